"""`python -m remit doctor`: the cases that need no server, and what a project imports."""

import io
import json
import os
import tempfile
import unittest

from remit._doctor import main
from remit._sources import imports_below


def run(*arguments, env=None):
    out, err = io.StringIO(), io.StringIO()
    code = main(["doctor", *arguments], env or {}, out, err)
    return code, out.getvalue(), err.getvalue()


class Sources(unittest.TestCase):
    def test_finds_the_imports_of_modules_and_not_those_in_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "agent.py"), "w") as file:
                file.write("import a.b\nfrom c import d\n# import e\nx = 'import f'\ndef g():\n import h\n")
            os.mkdir(os.path.join(folder, ".venv"))
            with open(os.path.join(folder, ".venv", "other.py"), "w") as file:
                file.write("import hidden")
            with open(os.path.join(folder, "broken.py"), "w") as file:
                file.write("import (")
            self.assertEqual(imports_below(folder), {"a.b", "c", "c.d", "h"})


class Doctor(unittest.TestCase):
    def test_says_that_the_server_is_down(self):
        code, out, err = run(env={"REMIT_KEY": "rmk_x", "REMIT_URL": "http://127.0.0.1:9"})
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no server answers at http://127.0.0.1:9 (unreachable)", err)

    def test_says_that_there_is_no_key_in_json(self):
        code, _, err = run("--json")
        self.assertEqual(code, 2)
        self.assertIn("REMIT_KEY", json.loads(err)["error"]["message"])

    def test_refuses_a_folder_that_does_not_exist_and_an_address_that_is_none(self):
        self.assertEqual(run("/nowhere", env={"REMIT_KEY": "rmk_x"})[0], 2)
        code, _, err = run("--url", "localhost", env={"REMIT_KEY": "rmk_x"})
        self.assertEqual(code, 2)
        self.assertIn("base_url", err)


if __name__ == "__main__":
    unittest.main()
