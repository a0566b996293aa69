# mypy: ignore-errors
"""LangGraph with its PostgreSQL checkpointer: durable nodes a second, five nodes that do nothing in each graph.

`python langgraph_nodes.py URL SECONDS THREADS` prints one JSON line. `sync` is the mode that promises what a ledger
promises: a checkpoint is written before the next node begins. Knows nothing of Makegood.
"""

import json
import os
import sys
import threading
import time
import uuid
from typing import TypedDict

from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, StateGraph
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

NODES = 5


class State(TypedDict):
    number: int


def built(saver: PostgresSaver):
    graph = StateGraph(State)
    names = [f"node{number}" for number in range(NODES)]
    for name in names:
        graph.add_node(name, lambda state: {"number": state["number"] + 1})
    for before, after in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver)


def nodes_per_second(graph, seconds: float, threads: int) -> float:
    done = [0] * threads
    end = time.monotonic() + seconds

    def work(slot: int) -> None:
        while time.monotonic() < end:
            graph.invoke({"number": 0}, {"configurable": {"thread_id": str(uuid.uuid4())}}, durability="sync")
            done[slot] += NODES

    workers = [threading.Thread(target=work, args=(slot,)) for slot in range(threads)]
    begun = time.monotonic()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(done) / (time.monotonic() - begun)


def main(url: str, seconds: float, threads: int) -> None:
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool = ConnectionPool(url, min_size=threads, max_size=2 * threads, kwargs=options, open=True)
    pool.wait()
    saver = PostgresSaver(pool)
    saver.setup()
    graph = built(saver)
    graph.invoke({"number": 0}, {"configurable": {"thread_id": str(uuid.uuid4())}}, durability="sync")
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps({"per_second": nodes_per_second(graph, seconds, threads)}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
