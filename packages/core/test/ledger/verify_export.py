"""Verifies an export of a ledger: stops at the first error in reading order. Standard library only.
Written from docs/ledger-format.md alone; the numbers in comments are sections of that page.

usage: verify_export.py EXPORT [VKEY | -] [CHECKPOINT ...]    (-: trust no key)
"""
import base64
import hashlib
import json
import re
import sys

import ed25519

MEMBERS = {
    "header": ["format", "org_id", "ledger_id", "origin", "vkey", "from_seq"],
    "entry": ["seq", "recorded_at", "kind", "prev_hash", "commitment", "hash", "salt", "payload"],
    "checkpoint": ["note"],
}
TIME = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}Z"
HASH = "[0-9a-f]{64}"
HEADER = rf"ledger-entry/v1\n[a-z0-9_-]{{1,64}}\n\d+\n{HASH}\n{TIME}\n[a-z0-9_.]{{1,64}}\n{HASH}\n"
NOTE = r".+\n(0|[1-9]\d{0,15})\n.{43}=\n(.+\n)*\n(— .+\n)+"


def sha(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).digest()


def unbase64(text):  # exact, or nothing
    try:
        data = base64.b64decode(text)
        return data if base64.b64encode(data).decode() == text else b""
    except ValueError:
        return b""


class Stop(Exception):
    """The end of the reading: status, and the seq and code of an error."""


def check(good, seq, code):
    if not good:
        raise Stop("behind_checkpoint" if code == "truncated" else "tampered", max(0, seq), code)


def read(line):  # 8: a line has one spelling
    try:
        value = json.loads(line)
        more = [name for name in ("start", "partial") if name in value]
        names = ["type", *MEMBERS[value["type"]], *(more if value["type"] == "header" else [])]
        spelled = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return value if spelled == line and list(value) == names else None
    except (ValueError, KeyError, TypeError):
        return None


def root_of(nodes):  # 4
    *left, root = nodes or [sha("")]
    for node in reversed(left):
        root = sha(b"\1" + node + root)
    return base64.b64encode(root).decode()


def signed_by(note, vkey):  # 5
    text, _, lines = note.rpartition("\n\n")
    name, key_id, key = vkey.split("+", 2)
    key = unbase64(key)
    assert key[:1] == b"\1" and sha(f"{name}\n".encode() + key)[:4].hex() == key_id, "not a vkey"
    mine = [line.split(" ") for line in lines.split("\n") if line.startswith(f"— {name} ")]
    found = [unbase64(line[2]) for line in mine if len(line) == 3]
    found = [one[4:] for one in found if one[:4].hex() == key_id]
    return bool(found) and all(ed25519.verify(key[1:], f"{text}\n".encode(), one) for one in found)


class Chain:
    def __init__(self, header, pinned, checkpoints):
        start = header.get("start", {})
        self.header, self.size = header, header["from_seq"]
        self.pinned, self.trusted = pinned, set(pinned)
        self.start, self.lost, self.disputed = start, [], []
        self.prev, self.time = start.get("hash", "0" * 64), start.get("recorded_at", "")
        self.nodes = [bytes.fromhex(node) for node in re.findall(".{64}", start.get("frontier", ""))]
        self.begin, self.cut_root = self.size, root_of(self.nodes)
        self.keys = [(0, start["vkey"])] if "vkey" in start else []
        self.missing, self.signer, self.external = set(), None, False
        self.waiting = [(note, int(note.split("\n")[1]), True) for note in checkpoints]

    def entry(self, e):
        seq, own = e["seq"], e["kind"].startswith("ledger.")
        fields = [e[name] for name in ("seq", "prev_hash", "recorded_at", "kind", "commitment")]
        header = "".join(f"{line}\n" for line in ["ledger-entry/v1", self.header["org_id"], *fields])
        check(seq >= self.size, self.size, "out_of_order")  # 10
        check(seq == self.size, self.size, "gap")
        check(e["prev_hash"] == self.prev, seq, "broken_link")
        check(re.fullmatch(HEADER, header, re.ASCII), seq, "malformed_header")
        check(e["recorded_at"] >= self.time, seq, "time_decreased")
        check(sha("\0" + header).hex() == e["hash"], seq, "hash_mismatch")
        check((seq == 0) == (e["kind"] == "ledger.genesis"), seq, "bad_genesis")
        half = (e["payload"] is None) != (e["salt"] is None)
        check(not half, seq, "commitment_mismatch")
        if e["payload"] is None:
            check(not own, seq, "payload_missing")
            self.missing.add(seq)
        else:
            commitment = sha(f"ledger-payload/v1\n{e['salt']}\n{e['payload']}").hex()
            check(commitment == e["commitment"], seq, "commitment_mismatch")
            self.heed(seq, e["kind"], json.loads(e["payload"])["data"] if own else {})
        leaf, size = bytes.fromhex(e["hash"]), self.size
        while size & 1:  # 4
            leaf, size = sha(b"\1" + self.nodes.pop() + leaf), size >> 1
        self.nodes.append(leaf)
        self.size, self.prev, self.time = seq + 1, e["hash"], e["recorded_at"]
        for given in [given for given in self.waiting if given[1] == self.size]:
            self.compare(*given)

    def heed(self, seq, kind, data):  # 3
        if kind == "ledger.genesis":
            names = ("org_id", "ledger_id", "origin")
            check(all(data[name] == self.header[name] for name in names), seq, "bad_genesis")
            self.keys = [(0, data["vkey"])]
        elif kind == "ledger.key_rotated":  # 6
            self.keys = self.keys or [(0, data["old_vkey"])]
            check(self.keys[-1][1] == data["old_vkey"], seq, "bad_rotation")
            self.keys.append((seq + 2, data["new_vkey"]))
        elif kind == "ledger.erased":  # 9
            self.missing -= set(data["seqs"])
        elif kind == "ledger.pruned":  # 9
            cut = data["cut"]
            check(type(cut) is int and 0 < cut <= seq, seq, "bad_cut")
            if cut == self.begin:
                wanted = {**self.start, **self.header, "root": unbase64(self.cut_root).hex()}
                wanted["vkey"] = self.start.get("vkey", data["vkey"])
                names = ("hash", "recorded_at", "root", "vkey", "origin", "ledger_id")
                check(all(data[name] == wanted[name] for name in names), seq, "bad_cut")
        elif kind == "ledger.recovered":  # 10
            self.lost.append((data["lost"], data.get("vkey")))

    def compare(self, note, size, external):
        last, (origin, _, root) = min(size, self.size) - 1, note.split("\n")[:3]
        keys = [vkey for since, vkey in self.keys if since <= size][-1:] or self.pinned
        keys = keys + (self.pinned if size > self.size else [])
        signer = next((vkey for vkey in keys if signed_by(note, vkey)), None)
        if external and keys and not signer and origin == self.header["origin"] and size <= self.size:
            return self.disputed.append((size, note, "checkpoint_signature"))
        check(signer or not keys, last, "checkpoint_signature")
        check(origin == self.header["origin"], last, "checkpoint_origin")
        check(size <= self.size, self.size, "truncated")
        if external and root != root_of(self.nodes):
            return self.disputed.append((size, note, "checkpoint_root"))
        check(root == root_of(self.nodes), last, "checkpoint_root")
        self.signer, self.external = signer, self.external or external
        if signer in self.trusted:
            self.trusted |= {vkey for since, vkey in self.keys if since == size + 1}
        next_keys = {vkey for since, vkey in self.keys if since == size + 1} & self.trusted  # 6
        self.signer = next((vkey for vkey in next_keys if signed_by(note, vkey)), self.signer)

    def end(self, note):
        check(re.fullmatch(NOTE, note, re.ASCII), self.size - 1, "malformed_checkpoint")
        size = int(note.split("\n")[1])
        check(size >= self.size, size, "unsigned_tail")
        self.compare(note, size, False)
        check(not self.pinned or self.signer in self.trusted, self.size - 1, "untrusted_key")
        partial = "partial" in self.header  # 8
        for given in self.waiting:
            check(partial or given[1] <= self.size, self.size, "truncated")
        check(partial or not self.missing, min(self.missing, default=0), "payload_missing")
        check(not self.keys or self.keys[-1][1] == self.header["vkey"], self.size - 1, "head_mismatch")


    def settle(self):  # 10: checkpoints from outside that disagree
        for size, note, code in self.disputed:
            keys = [vkey for _, vkey in self.keys] + self.pinned
            for lost, vkey in self.lost:
                known = code == "checkpoint_root" or any(signed_by(note, k) for k in [*keys, vkey] if k)
                check(not known or not lost["from_seq"] < size <= lost["to_seq"] + 1, lost["from_seq"], "truncated")
            check(False, size - 1, code)


def verify(lines, pinned=(), checkpoints=()):
    """The verdict (10) as a dict: status, anchored_by, seq and code of the first error."""
    header = read(lines[0]) if lines else None
    chain, status, error = None, "incomplete", (None, None)
    try:
        known = header and header["type"] == "header" and header["format"] == "ledger-export/v1"
        check(known, 0, "malformed_line")
        chain = Chain(header, list(pinned), checkpoints)
        if header["from_seq"] == 0 or "start" in header:
            for at, line in enumerate(map(read, lines[1:]), 2):
                if line is None and at == len(lines):
                    break  # cut in the middle of a line
                check(line and line["type"] != "header", chain.size, "malformed_line")
                if line["type"] == "checkpoint":
                    check(at == len(lines), chain.size, "malformed_line")
                    chain.end(line["note"])
                    status = "ok"
                else:
                    chain.entry(line)
        chain.settle()
    except Stop as stop:
        status, *error = stop.args
    trusted = chain and chain.signer in chain.trusted
    anchor = "external" if chain and chain.external else "signature" if trusted else "none"
    return {"status": status, "anchored_by": anchor, "seq": error[0], "code": error[1]}


if __name__ == "__main__":
    export, vkey, *files = sys.argv[1:] + ["-"] * (len(sys.argv) == 2)
    with open(export, encoding="utf-8", errors="surrogateescape", newline="") as file:
        export_lines = file.read().removesuffix("\n").split("\n")
    outside = [open(file, encoding="utf-8", newline="").read() for file in files]
    verdict = verify(export_lines, [] if vkey == "-" else [vkey], outside)
    print(json.dumps(verdict))
    sys.exit(0 if verdict["status"] == "ok" else 1)
