"""Call ids of frameworks that give none."""

import unittest
from unittest import mock

from remit import _repeats
from remit._repeats import repeat_of


class Run:
    """Stands for the gate of a run."""


def spent(run, input):
    with repeat_of(run, "pay", input) as repeat:
        repeat.is_spent = True
    return repeat.call_id


class Repeats(unittest.TestCase):
    def test_an_equal_call_has_another_id_and_one_that_did_not_run_keeps_its_own(self):
        run = Run()
        with repeat_of(run, "pay", {"usd": 1}) as waiting:
            pass
        self.assertEqual(spent(run, {"usd": 1}), waiting.call_id)
        self.assertNotEqual(spent(run, {"usd": 1}), waiting.call_id)
        self.assertEqual(spent(Run(), {"usd": 1}), waiting.call_id)

    def test_no_id_comes_again_after_its_input_was_forgotten(self):
        run = Run()
        with mock.patch.object(_repeats, "_MAX_INPUTS", 2):
            ids = [spent(run, {"usd": usd}) for _ in range(3) for usd in range(4)]
        self.assertEqual(len(set(ids)), 12)
        self.assertEqual(len(_repeats._TAKEN[run].inputs), 2)


if __name__ == "__main__":
    unittest.main()
