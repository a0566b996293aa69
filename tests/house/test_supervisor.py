"""What the supervisor does about processes that live and do nothing."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from config.house.family import Family
from config.house.supervisor import DEAF_LOOKS, QUEUE, House

WELL: dict[str, str] = {}
DEAF = {QUEUE: "The last sign of life of a drain is 99 s old."}


def house() -> tuple[House, mock.Mock]:
    family = mock.Mock(spec=Family)
    return House(Path(), 8000, say=mock.Mock(), _family=family), family


def test_a_deaf_queue_is_started_anew_after_so_many_looks_in_a_row() -> None:
    one, family = house()
    for _ in range(DEAF_LOOKS - 1):
        one._mind_the_queue(DEAF)
    family.renew.assert_not_called()
    one._mind_the_queue(DEAF)
    family.renew.assert_called_once_with(QUEUE)


def test_a_queue_that_answers_in_between_is_left_alone() -> None:
    one, family = house()
    for problems in (DEAF, DEAF, WELL, DEAF, DEAF, None, DEAF, DEAF):
        one._mind_the_queue(problems)
    family.renew.assert_not_called()
