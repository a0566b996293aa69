import os

import httpx

api = httpx.Client(base_url=os.environ["MAKEGOOD_URL"] + "/api/v1/", timeout=70)
api.headers["Authorization"] = "Bearer " + os.environ["MAKEGOOD_KEY"]
what = {"workflow": "sign-up", "subject": {"type": "customer", "id": "acme"}, "input": {"email": "office@acme.example"}}
run = api.post("runs", json=what, headers={"Idempotency-Key": "sign-up-acme"}).raise_for_status().json()
while run["phase"] != "over" and run["state"] != "stuck":
    run = api.get(f"runs/{run['id']}", headers={"Prefer": "wait=30"}).raise_for_status().json()
print(run["state"], *(f"{effect['tool']}: {effect['state']}" for effect in run["effects"]), sep="\n")
print(*(left["statement"] for left in run["residue"]), *(case["sentence"] for case in run["cases"]), sep="\n")
