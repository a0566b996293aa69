"""The README's agent in ten lines: start a run, wait, and say what truly happened."""

import os

import httpx

api = httpx.Client(base_url=f"{os.environ['MAKEGOOD_URL']}/api/v1/", timeout=70)
api.headers["Authorization"] = f"Bearer {os.environ['MAKEGOOD_KEY']}"
what = {"workflow": "sign-up", "subject": {"type": "customer", "id": "acme"}, "input": {"email": "office@acme.example"}}
run = api.post("runs", json=what, headers={"Idempotency-Key": "sign-up-acme"}).raise_for_status().json()
while run["phase"] != "over" and run["state"] != "stuck":
    run = api.get(f"runs/{run['id']}", headers={"Prefer": "wait=30"}).raise_for_status().json()
print(run["state"], "clean" if run["clean"] else "not clean")
print(*(f"  done: {effect['tool']}, {effect['state']}" for effect in run["effects"]), sep="\n")
print(*(f"  remains: {residue['statement']}" for residue in run["residue"]), sep="\n")
print(*(f"  a person is asked: {case['sentence']}" for case in run["cases"]), sep="\n")
