#!/usr/bin/env python3
"""Verifies a baton-evidence/1 to 4 bundle offline with nothing but Python 3.8 and its standard library.

python3 baton_verify.py BUNDLE --policy FILE [--json] [--now POSIX_SECONDS]

Written from FORMAT.md and the C2SP texts, not from the other verifier: where both agree, one mistake
in either of them is not enough. Ends with 0 valid, 1 failure, 2 usage or
no bundle, 3 tampered, 4 incomplete, of a wrong clock or of an unknown version.
"""
import argparse
import base64
import hashlib
import json
import re
import struct
import sys
import time
from collections import OrderedDict
from datetime import datetime, timezone

FORMATS = ["baton-evidence/1", "baton-evidence/2", "baton-evidence/3", "baton-evidence/4"]
ORDER = [
    "manifest.json", "manifest.note", "manifest.sha256", "records.jsonl", "erasures.jsonl",
    "erasure-lists.json", "proof.json", "seal.json", "seal.tlog-proof", "batches.json",
    "receipts.json", "payloads.jsonl", "policy", "index.html",
]
UNLISTED = ORDER[:3]
REQUIRED = ["records.jsonl", "erasures.jsonl", "erasure-lists.json", "proof.json", "batches.json", "receipts.json"]
ENDS = {
    "HANDOFF_REJECTED", "HANDOFF_EXPIRED", "HANDOFF_CANCELED", "HANDOFF_RETURNED", "EXECUTION_COMPLETED",
    "ROLLED_BACK", "DEAD_LETTERED", "DEAD_LETTER_DISCARDED",
}
MEMBERS = {
    "v", "origin", "seq", "previousRecordHash", "recordId", "recordedAt", "event", "taskId", "taskSeq",
    "previousTaskRecordHash", "handoffId", "parentHandoffId", "attempt", "epoch", "fromAgent", "toAgent", "traceparent",
    "verdicts", "reason", "cost", "payload", "keyIds",
}
OPTIONAL = {
    "act", "tenant", "sentBy", "classifier", "exemptions", "policy", "release", "erasure", "model", "times", "joins", "fanOut", "stream", "operation",
}
PERSON = (r"((?:[a-z][a-z0-9-]{0,30}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}):([a-z+]{1,64}):([A-Za-z0-9+/]{43}=)"
          r"(?::([0-9]{4}-[0-9]{2}-[0-9]{2}))?")
DECIDED_AS = {
    "RELEASE_APPROVED": "reviewer", "DEAD_LETTER_DISCARDED": "reviewer", "HANDOFF_APPROVED": "reviewer", "APPROVAL_REFUSED": "reviewer",
    "LEGAL_HOLD_SET": "compliance", "LEGAL_HOLD_LIFTED": "compliance", "ERASURE_REQUESTED": "compliance", "ERASURE_COMPLETED": "compliance",
}
PLANS = {"ERASURE_REQUESTED", "ERASURE_DEFERRED"}
OVER = {"EXECUTION_COMPLETED", "HANDOFF_CANCELED", "HANDOFF_EXPIRED", "APPROVAL_REFUSED", "DEAD_LETTER_DISCARDED"}
EFFECTS = {"HANDOFF_ACCEPTED", "EXECUTION_STARTED", "EXECUTION_COMPLETED", "EXECUTION_FAILED"}
ENDED_MAX = 168 * 3600
ERASING = {"ERASURE_REQUESTED", "ERASURE_COMPLETED"}
NOT_EXCLUDED = OrderedDict([
    ("EXPORTER_SIGNATURE", "records of the task after the last one here (your policy names no exporter who vouches that these are all)"),
    ("WITNESS_QUORUM", "a different history shown to others (your policy asks for no witness)"),
    ("BATCH_SIGNATURE", "records that whoever seals made up (your policy names no append service that signs them as well)"),
    ("RECEIPT", "a record that the operational database was told of and that is missing here (the bundle holds no receipt)"),
    ("DECISIONS", "decisions by others than the people who are said to have made them (your policy names nobody whose decisions count)"),
])
LATER = "records of the task that came after %s (your policy names no exporter who vouches that these are all)"
HEIR = ("a log that somebody else went on with who has the key %s (your policy names it, and it was handed over with seal %d: "
        "ask whoever runs the log whether %s is its key, and name that one instead)")
TASKS_MAX = 10000
NODES_OF_TASK_MAX = 25
NODE_DIGITS_MAX = 1112
HANDOVERS_MAX = 120
PATH_MAX = 53
SHOWN_MAX = 100
DEPTH_MAX = 64
SKEW = 300
ZERO = "0" * 64
SAFE_INTEGER = 2**53 - 1


# ---- Ed25519, RFC 8032 section 5.1.7 -------------------------------------------------------------
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def point_add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = point_add(result, point)
        point = point_add(point, point)
        scalar >>= 1
    return result


def point_decode(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * I % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = point_decode(bytes([0x58] + [0x66] * 31))


def ed25519_verify(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    a, r = point_decode(key), point_decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    left, right = point_multiply(s, BASE), point_add(r, point_multiply(h, a))
    return not ((left[0] * right[2] - right[0] * left[2]) % P or (left[1] * right[2] - right[1] * left[2]) % P)


# ---- Bytes, JSON and RFC 6962 --------------------------------------------------------------------
def unbase64(text):
    """Strict: None for anything that encoding would not have written."""
    try:
        data = base64.b64decode(text, validate=True)
    except Exception:
        return None
    return data if base64.b64encode(data).decode() == text else None


def canonical(value):
    """RFC 8785 for what a record may hold: no fractions, so a number is its digits."""
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical(one) for one in value) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
    raise ValueError("no canonical form")


def read_json(data):
    """The value of canonical JSON bytes; None for any others."""
    try:
        text = data.decode("utf-8")
        value = json.loads(text)
        return value if canonical(value) == text else None
    except Exception:
        return None


def is_count(value):
    return type(value) is int and 0 <= value <= SAFE_INTEGER


def is_text(value):
    return isinstance(value, str)


def matching(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def each(rule):
    return lambda value: isinstance(value, list) and all(rule(one) for one in value)


def row(*rules):
    return lambda value: isinstance(value, list) and len(value) == len(rules) and all(
        rule(one) for rule, one in zip(rules, value))


def having(**members):
    """An object with exactly these members."""
    return lambda value: isinstance(value, dict) and set(value) == set(members) and all(
        rule(value[name]) for name, rule in members.items())


def or_null(rule):
    return lambda value: value is None or rule(value)


is_name = matching("[!-~](?:[ -~]{0,254}[!-~])?")
is_digest = matching("[0-9a-f]{64}")
is_base64 = matching("[A-Za-z0-9+/]*={0,2}")
is_uuid = matching("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
is_manifest = having(
    format=is_text, taskId=or_null(is_uuid), records=is_count, payloads=lambda value: value in ("included", "withheld"),
    files=each(having(name=is_name, bytes=is_count, sha256=is_digest)))
are_chains = each(having(
    origin=is_name, size=is_count, checkpoint=or_null(is_text), leaves=each(row(is_count, is_digest)), hashes=each(is_base64)))
are_batches = each(having(
    origin=is_name, firstSeq=is_count, lastSeq=is_count, lastHash=is_digest, keyId=is_name, signature=is_base64))
are_receipts = each(having(origin=is_name, seq=is_count, recordHash=is_digest, recordedAt=is_name))
are_proofs_of_handovers = each(having(entry=is_text, path=each(is_base64), note=is_text))
are_erasure_lists = each(each(row(is_name, is_count, is_count)))


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def root_from_path(index, size, leaf, path):
    """RFC 9162 section 2.1.3.2."""
    if not 0 <= index < size:
        return None
    node, last, value = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            value = node_hash(sibling, value)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            value = node_hash(value, sibling)
        node, last = node >> 1, last >> 1
    return value if last == 0 else None


def root_from_subset(size, leaves, hashes):
    """FORMAT.md: a range without known leaf takes the next hash, any other is split in two."""
    indexes = [index for index, _ in leaves]
    if not leaves or indexes != sorted(set(indexes)) or indexes[-1] >= size:
        return None
    width = 1
    while width < size:
        width *= 2
    known, given = list(leaves), list(hashes)
    known.reverse()
    given.reverse()

    def walk(start, width):
        end = min(start + width, size)
        if not known or known[-1][0] >= end:
            return given.pop()
        if width == 1:
            return known.pop()[1]
        left = walk(start, width // 2)
        middle = start + width // 2
        return node_hash(left, walk(middle, width // 2)) if middle < size else left

    try:
        root = walk(0, width)
    except IndexError:
        return None
    return None if known or given else root


# ---- C2SP signed-note, tlog-cosignature, tlog-checkpoint, tlog-proof, tlog-policy -----------------
class Key:
    def __init__(self, text, kinds):
        parts = text.split("+", 2)
        data = unbase64(parts[2]) if len(parts) == 3 else None
        if not data or len(data) != 33 or data[0] not in kinds:
            raise ValueError("not a verifier key of the right type")
        self.name, self.id, self.kind, self.public = parts[0], parts[1], data[0], data[1:]
        if hashlib.sha256(self.name.encode() + b"\n" + data).hexdigest()[:8] != self.id or not self.name:
            raise ValueError("the id of the key is not that of its bytes")

    def verify(self, text, signature):
        """None when wrong, else the time of a cosignature or 0."""
        if self.kind == 1:
            return 0 if ed25519_verify(self.public, text, signature) else None
        if len(signature) != 72:
            return None
        (when,) = struct.unpack(">Q", signature[:8])
        message = b"cosignature/v1\ntime %d\n" % when + text
        return when if ed25519_verify(self.public, message, signature[8:]) else None


def split_note(data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if re.search("[\x00-\x09\x0b-\x1f]", text) or not text.endswith("\n") or "\n\n" not in text:
        return None
    body, _, lines = text.rpartition("\n\n")
    signatures = []
    for line in lines[:-1].split("\n"):
        match = re.fullmatch("\u2014 ([^\\s+]+) ([A-Za-z0-9+/=]+)", line)
        signature = unbase64(match.group(2)) if match else None
        if signature is None or len(signature) < 5:
            return None
        signatures.append((match.group(1), signature[:4].hex(), signature[4:]))
    return (body + "\n", signatures) if 0 < len(signatures) <= 100 else None


def open_note(data, keys):
    """(text, {(name, id): time}) or a sentence about what is wrong."""
    note = split_note(data)
    if note is None:
        return "it is not a signed note"
    verified = {}
    for name, key_id, signature in note[1]:
        for key in keys:
            if (key.name, key.id) == (name, key_id) and (name, key_id) not in verified:
                when = key.verify(note[0].encode(), signature)
                if when is None:
                    return "a signature by a key of your policy is wrong"
                verified[(name, key_id)] = (when, key)
    return (note[0], verified) if verified else "no key of your policy signed it"


def parse_checkpoint(text):
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or "" in lines[:-1] or not re.fullmatch("0|[1-9][0-9]{0,15}", lines[1]):
        return None
    root = unbase64(lines[2])
    return (lines[0], int(lines[1]), root) if root and len(root) == 32 else None


def parse_tlog_proof(data):
    try:
        head, _, checkpoint = data.decode("utf-8").partition("\n\n")
    except UnicodeDecodeError:
        return None
    lines = head.split("\n")
    if len(lines) < 2 or lines[0] != "c2sp.org/tlog-proof@v1":
        return None
    match = re.fullmatch("index (0|[1-9][0-9]{0,15})", lines[1])
    path = [unbase64(line) for line in lines[2:]]
    if not match or any(one is None or len(one) != 32 for one in path):
        return None
    return int(match.group(1)), path, checkpoint.encode()


class Policy:
    def __init__(self, data):
        self.logs, self.witnesses, self.groups = [], {}, {}
        self.batch_keys, self.exporters, self.retired, quorum, members = {}, [], [], [], set()
        self.unusable, self.unknown, self.people = set(), set(), {}
        for number, octets in enumerate(data.split(b"\n"), 1):
            try:
                # Octets above 0x7F mean nothing to the syntax of a policy.
                line = octets.decode("utf-8", "surrogateescape")
                directive = re.match(r"^[ \t]*#[ \t]*baton-key\b(.*)$", line)
                person = re.match(r"[ \t]*#[ \t]*baton-person(.*)", line, re.DOTALL)
                words = [word for word in re.split("[ \t]+", line) if word]
                if directive:
                    self.key_of_service(directive.group(1).split())
                elif person:
                    self.person(person.group(1))
                elif words and not words[0].startswith("#"):
                    self.line(words, quorum, members)
            except (ValueError, IndexError, KeyError) as error:
                raise ValueError("line %d: %s" % (number, error))
        if len(quorum) != 1:
            raise ValueError("there is exactly one quorum line")
        self.quorum = quorum[0]
        keys = self.logs + [key for key, _ in self.retired]
        if len({key.public for key in keys}) < len(keys):
            raise ValueError("a key of a log is listed twice")

    def person(self, text):
        entry = re.fullmatch(r"[ \t]+" + PERSON + r"[ \t]*", text)
        key = unbase64(entry.group(3)) if entry else None
        roles = set(entry.group(2).split("+")) if entry else set()
        if key is None or roles - {"reviewer", "compliance"}:
            raise ValueError("# baton-person name:role+role:key, optionally with :YYYY-MM-DD")
        end = datetime.strptime(entry.group(4), "%Y-%m-%d").replace(tzinfo=timezone.utc).timestamp() if entry.group(4) else None
        key_id = hashlib.sha256(key).hexdigest()[:16]
        if key_id in self.people:
            raise ValueError("a key of a person is listed twice")
        self.people[key_id] = (entry.group(1), roles, key, end)

    def key_of_service(self, words):
        role, text, *rest = words
        key = Key(text, [1])
        if role == "retired" and len(rest) == 1 and re.fullmatch("0|[1-9][0-9]{0,15}", rest[0]) and is_count(int(rest[0])):
            self.retired.append((key, int(rest[0])))
        elif role == "batch" and not rest:
            self.batch_keys[hashlib.sha256(key.public).hexdigest()[:16]] = key.public
        elif role == "exporter" and not rest:
            self.exporters.append(key)
        else:
            raise ValueError("a key is of a batch or an exporter, or retired with a number of seals")

    def line(self, words, quorum, members):
        if words[0] == "log" and len(words) in (2, 3):
            if self.is_unknown(words[1]):
                return
            key = Key(words[1], [1])
            if any(key.public == other.public for other in self.logs):
                raise ValueError("a log is listed twice")
            if any(key.name == other.name for other in self.logs):
                raise ValueError("two keys of one log: name the one in force, and the others as # baton-key retired")
            self.logs.append(key)
        elif words[0] == "witness" and len(words) in (3, 4):
            self.fresh(words[1])
            if self.is_unknown(words[2]):
                self.unusable.add(words[1])
                return
            key = Key(words[2], [4])
            if any(key.public == other.public for other in self.witnesses.values()):
                raise ValueError("a witness is listed twice")
            self.witnesses[words[1]] = key
        elif words[0] == "group" and len(words) > 3:
            self.fresh(words[1])
            names = words[3:]
            for name in names:
                if name in members or not self.is_named(name):
                    raise ValueError("a member must stand above, and in one group only")
                members.add(name)
            need = {"all": len(names), "any": 1}.get(words[2]) or int(words[2])
            if not 1 <= need <= len(names):
                raise ValueError("a threshold that cannot be met")
            self.groups[words[1]] = (need, names)
        elif words[0] == "quorum" and len(words) == 2:
            if words[1] != "none" and not self.is_named(words[1]):
                raise ValueError("the quorum must stand above")
            quorum.append(words[1])
        else:
            raise ValueError("not a line of a policy")

    def is_named(self, name):
        return name in self.witnesses or name in self.groups or name in self.unusable

    def is_unknown(self, text):
        """A whole key of an algorithm that is not known here: its line says nothing, and is right all the same."""
        parts = text.split("+", 2)
        data = unbase64(parts[2]) if len(parts) == 3 and parts[0] else None
        if not data or len(data) < 2 or data[0] in (1, 4):
            return False
        if hashlib.sha256(parts[0].encode("utf-8", "surrogateescape") + b"\n" + data).hexdigest()[:8] != parts[1]:
            return False
        if data in self.unknown:
            raise ValueError("a key is listed twice")
        self.unknown.add(data)
        return True

    def fresh(self, name):
        if name == "none" or self.is_named(name):
            raise ValueError("a name is taken")

    def is_met(self, verified):
        def has(name):
            if name in self.witnesses:
                key = self.witnesses[name]
                return (key.name, key.id) in verified
            if name in self.unusable:
                return False
            need, names = self.groups[name]
            return sum(has(one) for one in names) >= need
        return self.quorum == "none" or has(self.quorum)


# ---- The container -------------------------------------------------------------------------------
def tar_header(name, length):
    header = bytearray(512)
    for at, text in ((0, name), (100, "0000644"), (108, "0000000"), (116, "0000000"),
                     (124, "%011o" % length), (136, "00000000000"), (148, " " * 8), (156, "0"), (257, "ustar\x0000")):
        header[at:at + len(text)] = text.encode("latin-1")
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def is_bundle(data):
    """Whole or damaged: it begins as a bundle does, or any header of a bundle's file stands in it."""
    names = [name.encode() + b"\0" for name in ORDER]
    at = data.find(b"ustar")
    while at >= 0:
        if at >= 257 and any(data[at - 257:].startswith(name) for name in names):
            return True
        at = data.find(b"ustar", at + 1)
    return data.startswith(names[0])


def read_tar(data, report):
    files, at = OrderedDict(), 0
    while data[at:at + 512].strip(b"\0") and at + 512 <= len(data):
        header = data[at:at + 512]
        name = header[:100].split(b"\0")[0].decode("latin-1") or "(byte %d)" % at
        try:
            length = int(header[124:135], 8)
        except ValueError:
            length = -1
        end = at + 512 + length
        if length < 0 or end > len(data):
            report.fail("CONTAINER", name, "the header gives no length that fits")
            return files
        if header != tar_header(name, length):
            report.fail("CONTAINER", name, "the header is not the only one it may be")
        after = end + -end % 512
        if data[end:after].strip(b"\0"):
            report.fail("CONTAINER", name, "the padding is not zero")
        if name in files or name not in ORDER:
            report.fail("CONTAINER", name, "a bundle has no such file, or only once")
        files[name] = data[at + 512:end]
        at = after
    if data[at:] != bytes(1024):
        report.fail("CONTAINER", "(byte %d)" % at, "the container does not end in two zero blocks")
    return files


# ---- The checks ----------------------------------------------------------------------------------
class Report:
    def __init__(self):
        self.findings, self.incomplete, self.skipped, self.segments = [], [], [], []
        self.unsupported, self.found_end, self.heir = False, None, None

    def fail(self, rule, place, message):
        self.findings.append({"rule": rule, "place": place, "message": message})

    def lack(self, rule, place, message):
        self.incomplete.append({"rule": rule, "place": place, "message": message})

    def verdict(self):
        rules = {finding["rule"] for finding in self.findings}
        if self.unsupported and not rules & {"CONTAINER", "MANIFEST_DIGEST"}:
            return "unsupported"
        if rules:
            return "tampered"
        if any(lack["rule"] == "SEAL_TIME" for lack in self.incomplete):
            return "clock"
        return "incomplete" if self.incomplete else "valid"

    def not_excluded(self):
        worse = self.verdict() in ("tampered", "unsupported")
        end = self.end()
        open_texts = dict(NOT_EXCLUDED, EXPORTER_SIGNATURE=LATER % end["until"]) if end else NOT_EXCLUDED
        heir = [self.heir] if self.heir else []
        return [] if worse else heir + [open_texts[rule] for rule in NOT_EXCLUDED if rule in self.skipped]

    def end(self):
        """That nothing of the tasks is missing: only under a seal that is proven, seen, and of a time that can be."""
        doubted = self.findings or any(lack["rule"] in ("WITNESS_QUORUM", "SEAL_TIME") for lack in self.incomplete)
        return None if doubted else self.found_end


class Record:
    def __init__(self, file, line, data):
        self.file, self.data, self.hash = file, data, leaf_hash(data)
        self.hex = self.hash.hex()
        self.body = read_json(data)
        try:
            b = self.body
            ok = b["v"] == 1 and set(b) - OPTIONAL == MEMBERS and all(is_count(b[k]) for k in ("v", "seq", "taskSeq"))
            ok = ok and all(isinstance(b[k], str) for k in (
                "origin", "taskId", "handoffId", "event", "recordedAt", "previousRecordHash", "previousTaskRecordHash"))
            ok = ok and isinstance(b["payload"], list) and isinstance(b["keyIds"]["batch"], str)
            self.ok = bool(ok) and all(
                {"segment", "subjectRef", "commitment", "bytes"} <= set(one) for one in b["payload"])
        except (TypeError, KeyError, AttributeError):
            self.ok = False
        self.place = "%s:%d" % (file, line) if not self.ok else "%s record %d" % (self.body["origin"], self.body["seq"])


def read_records(name, data, report):
    lines = data.split(b"\n")
    if lines.pop() != b"":
        report.fail("RECORD_FORM", name, "the last line is cut")
    records = [Record(name, number, line) for number, line in enumerate(lines, 1)]
    for record in records:
        if not record.ok:
            report.fail("RECORD_FORM", record.place, "the line is not a canonical version 1 record")
    return [record for record in records if record.ok]


def check_files(files, policy, report):
    manifest_bytes = files.get("manifest.json", b"")
    note = files.get("manifest.note")
    digest = hashlib.sha256(manifest_bytes + (note or b"")).hexdigest() + "\n"
    if files.get("manifest.sha256") != digest.encode():
        report.fail("MANIFEST_DIGEST", "manifest.sha256", "it is not the digest of the manifest and its note")
    version = re.search(rb'"format":"([^"]*)"', manifest_bytes)
    stated = version.group(1).decode("latin-1") if version else ""
    if stated not in FORMATS:
        report.unsupported = True
        report.fail("VERSION", "manifest.json", "the version is not " + " or ".join(FORMATS))
    manifest = read_json(manifest_bytes)
    if is_manifest(manifest):
        listed = [one["name"] for one in manifest["files"]]
        for one in manifest["files"]:
            data = files.get(one["name"])
            if data is None or len(data) != one["bytes"] or hashlib.sha256(data).hexdigest() != one["sha256"]:
                report.fail("MANIFEST", one["name"], "the file is missing or has another length or digest")
        for name in files:
            if name not in UNLISTED and name not in listed:
                report.fail("MANIFEST", name, "the file is not listed")
        if listed != [name for name in ORDER if name in listed]:
            report.fail("MANIFEST", "manifest.json", "the list is out of order")
        if manifest["payloads"] != ("included" if "payloads.jsonl" in files else "withheld"):
            report.fail("MANIFEST", "payloads.jsonl", "the manifest says otherwise about texts")
    else:
        report.fail("MANIFEST", "manifest.json", "it is missing or cannot be read")
        manifest = {"taskId": None, "records": None, "format": ""}
    if policy.exporters:
        opened = open_note(note or b"", policy.exporters)
        text = "%s\n" % manifest["format"] + base64.b64encode(hashlib.sha256(manifest_bytes).digest()).decode() + "\n"
        if isinstance(opened, str) or opened[0] != text:
            report.fail("EXPORTER_SIGNATURE", "manifest.note", "no exporter of your policy signed this manifest")
    else:
        report.skipped.append("EXPORTER_SIGNATURE")
    return manifest


def check_records(records, erasures, manifest, chains, report):
    if manifest["records"] is not None and manifest["records"] != len(records):
        report.fail("MANIFEST", "records.jsonl", "the manifest counts other records")
    heads, runs, before = {}, {}, None
    for record in records + erasures:
        b = record.body
        run = (record.file, b["origin"])
        if before is not None and (before.file, before.body["origin"]) == run:
            if b["seq"] <= before.body["seq"]:
                report.fail("RECORD_ORDER", record.place, "the record stands twice or out of order")
            if b["seq"] == before.body["seq"] + 1 and b["previousRecordHash"] != before.hex:
                report.fail("RECORD_LINK", record.place, "the record does not link to the one before it")
        elif run in runs:
            report.fail("RECORD_ORDER", record.place, "the chain is interrupted")
        if b["seq"] == 0 and b["previousRecordHash"] != ZERO:
            report.fail("RECORD_LINK", record.place, "the first record of a chain links to another")
        runs[run], before = True, record
        chain = chains.get(b["origin"])
        if chain and b["seq"] < chain["size"] and chain["listed"].get(b["seq"]) != record.hex:
            report.fail("RECORD_HASH", record.place, "the record has another hash than the proof lists")
        if record.file != "records.jsonl":
            continue
        if manifest["taskId"] is not None and b["taskId"] != manifest["taskId"]:
            report.fail("RECORD_TASK", record.place, "the record belongs to another task")
        seq, value = heads.get(b["taskId"], (-1, ZERO))
        if b["taskSeq"] != seq + 1 or b["previousTaskRecordHash"] != value:
            report.fail("TASK_LINK", record.place, "the record does not follow the task's record before it")
        heads[b["taskId"]] = (b["taskSeq"], record.hex)


def read_seal(data):
    seal = read_json(data)
    try:
        names = [chain["origin"] for chain in seal["chains"]]
        ok = has_version(seal) and names and names == sorted(set(names))
        ok = ok and ("tasks" not in seal or are_sealed_tasks(seal["tasks"], seal))
        ok = ok and ("handovers" not in seal or are_places(seal["handovers"]))
        ok = ok and ("handover" not in seal or is_handover(seal["handover"]))
        ok = ok and all(set(chain) == {"origin", "size", "root"} and len(unbase64(chain["root"])) == 32
                        for chain in seal["chains"])
        instant(seal["at"])
        chains = {chain["origin"]: chain for chain in seal["chains"]}
        return (chains, seal["at"], seal.get("tasks")) if ok else (None, seal["at"], None)
    except (TypeError, KeyError, ValueError):
        return None, None, None


def has_version(seal):
    """Version 1 has no `tasks`, version 2 has them, version 3 has `handovers` with or without them, and may be one."""
    members = set(seal) - {"v", "at", "chains"}
    if len(set(seal) - members) < 3 or type(seal["v"]) is not int:
        return False
    if "handovers" in members:
        return seal["v"] == 3 and not members - {"handovers", "handover", "tasks"}
    return members == {1: set(), 2: {"tasks"}}.get(seal["v"])


def are_places(places):
    """Ascending, and never the first one."""
    return (isinstance(places, list) and 0 < len(places) <= HANDOVERS_MAX and all(is_count(place) for place in places)
            and all(before < place for before, place in zip([0] + places, places)))


def is_handover(handover):
    return having(**{"from": is_text, "to": is_text, "proof": is_text})(handover) and len(unbase64(handover["proof"]) or b"") == 64


def are_sealed_tasks(tasks, seal):
    """The map of tasks that a seal of version 2 commits to reaches no further than the seal."""
    sizes = tasks["sizes"]
    counts = all(type(count) is int and 0 <= count < 2**53 for count in [tasks["seals"], *sizes])
    begins = tasks.get("begins")
    begun = begins is None or (len(begins) == len(sizes) and any(begins)
                               and all(type(begin) is int and 0 <= begin <= size for begin, size in zip(begins, sizes)))
    return (set(tasks) - {"begins"} == {"at", "root", "seals", "sizes"} and counts and begun and len(unbase64(tasks["root"])) == 32
            and instant(tasks["at"]) <= instant(seal["at"]) and len(sizes) == len(seal["chains"])
            and all(size <= chain["size"] for size, chain in zip(sizes, seal["chains"])))


def instant(text):
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", text):
        raise ValueError("not a time")
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


class Handover:
    """One change of the key that signs the seals, proven by both keys. Raises ValueError where it is none."""
    def __init__(self, given, before, origin):
        data = given["entry"].encode()
        entry = read_json(data) if read_seal(data)[0] else None
        places = entry.get("handovers", []) if entry else []
        if not entry or "handover" not in entry or places[:-1] != [one.seq for one in before]:
            raise ValueError("the entry is no hand-over, or names other places than those of the hand-overs")
        stated = entry["handover"]
        self.seq, self.giver, self.heir = places[-1], Key(stated["from"], [1]), Key(stated["to"], [1])
        if {self.giver.name, self.heir.name} != {origin}:
            raise ValueError("it does not name two keys of this log")
        if before and self.giver.public != before[-1].heir.public:
            raise ValueError("it hands over a key that was not in force")
        if self.heir.public in [self.giver.public] + [one.giver.public for one in before]:
            raise ValueError("it hands over to a key that was in force before")
        opened = open_note(given["note"].encode(), [self.giver])
        checkpoint = None if isinstance(opened, str) else parse_checkpoint(opened[0])
        if not checkpoint or checkpoint[:2] != (origin, self.seq + 1):
            raise ValueError("the key that was in force did not sign the checkpoint that ends in it")
        path = [unbase64(one) or b"" for one in given["path"]]
        if {len(one) for one in path} != {32} or root_from_path(self.seq, self.seq + 1, leaf_hash(data), path) != checkpoint[2]:
            raise ValueError("it does not stand under the checkpoint that ends in it")
        root_before = path[0]
        for left in path[1:]:
            root_before = node_hash(left, root_before)
        unsigned = dict(entry, handover={"from": stated["from"], "to": stated["to"]})
        statement = "baton/seal-handover/v1\n%s\n%d\n%s\n%s\n" % (
            origin, self.seq, base64.b64encode(root_before).decode(), canonical(unsigned))
        if not ed25519_verify(self.heir.public, statement.encode(), unbase64(stated["proof"])):
            raise ValueError("the new key did not sign it")


def seal_signers(seal, handovers, note, checkpoint, policy):
    """(keys whose lines are checked, those that may have signed it, what is wrong, what the reader's trust leaves open)"""
    origin, size, _ = checkpoint
    own = policy.logs + [key for key, _ in policy.retired]
    logs = [key.public for key in policy.logs if key.name == origin]
    kept = [key for key, seals in policy.retired if key.name == origin and size <= seals]
    entries = [read_json(one["entry"].encode()) for one in handovers]
    places = [entry.get("handovers", [None])[-1] if isinstance(entry, dict) else None for entry in entries]
    if places != (seal or {}).get("handovers", []):
        return own, [], "the bundle does not carry the hand-overs that its seal names", None
    if not handovers:
        return own, [key for key in own if key.public in logs] + kept, None, None
    proven = []
    for given in handovers:
        try:
            proven.append(Handover(given, proven, origin))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            return own, [], str(error), None
    line = [proven[0].giver] + [one.heir for one in proven]
    if not any(key.public == one.public for key in own if key.name == origin for one in line):
        return own, [], "none of the keys of the log is one that is trusted here", None
    known = own + [key for key in line if (key.name, key.id) not in [(one.name, one.id) for one in own]]
    signer = line[sum(one.seq + 1 < size for one in proven)]
    if isinstance(open_note(note, [signer]), str):
        return known, [], "no key signed it that was in force for a log of its size", None
    trusted = [at for at, key in enumerate(line) if key.public in logs]
    if not trusted and signer.public not in [key.public for key in kept]:
        return known, [], "only a key that signs no log of this size leads to the one that signed it", None
    heir = None
    if trusted and trusted[-1] < len(proven):
        heir = HEIR % (proven[trusted[-1]].giver.id, proven[trusted[-1]].seq, vkey_of(proven[-1].heir))
    return known, [signer], None, heir


def vkey_of(key):
    return "%s+%s+%s" % (key.name, key.id, base64.b64encode(bytes([key.kind]) + key.public).decode())


def check_seal(files, everything, chains, handovers, policy, now, report):
    if "seal.json" not in files or "seal.tlog-proof" not in files:
        kind = report.fail if "seal.json" in files or "seal.tlog-proof" in files else report.lack
        kind("SEAL_ENTRY", "seal.json", "the bundle holds no whole seal")
        return
    sealed, at, _ = read_seal(files["seal.json"])
    if sealed is None:
        report.fail("SEAL_ENTRY", "seal.json", "it cannot be read as a seal entry")
        sealed = {}
    for origin, chain in chains.items():
        if origin not in sealed:
            report.fail("SEAL_ENTRY", origin, "the seal does not list the chain")
            continue
        if chain["size"] != sealed[origin]["size"]:
            report.fail("CHAIN_CHECKPOINT", origin, "the proof is for another size than the sealed one")
        check_chain_checkpoint(origin, chain, sealed[origin], policy, report)
        mine = {r.body["seq"]: r.hash for r in everything if r.body["origin"] == origin and r.body["seq"] < chain["size"]}
        leaves = [(seq, mine.pop(seq, None) or bytes.fromhex(text)) for seq, text in chain["leaves"]]
        root = root_from_subset(chain["size"], leaves, [unbase64(one) or b"" for one in chain["hashes"]])
        if mine or root is None or base64.b64encode(root).decode() != sealed[origin]["root"]:
            report.fail("INCLUSION", origin, "the records do not lead to the sealed root")
    for record in everything:
        chain = sealed.get(record.body["origin"])
        if chain is None or record.body["seq"] >= chain["size"]:
            report.lack("INCLUSION", record.place, "the record is not sealed yet")
        elif record.body["origin"] not in chains:
            report.fail("INCLUSION", record.place, "there is no proof for the chain")
        elif record.body["recordedAt"] > at:
            report.lack("SEAL_TIME", record.place, "the record is later than the seal that covers it")
    check_seal_log(files, at, handovers, policy, now, report)


def check_chain_checkpoint(origin, chain, sealed, policy, report):
    if chain["checkpoint"] is None:
        return
    note = split_note(chain["checkpoint"].encode())
    stated = parse_checkpoint(note[0]) if note else None
    if stated is None or stated[:2] != (origin, sealed["size"]) or base64.b64encode(stated[2]).decode() != sealed["root"]:
        report.fail("CHAIN_CHECKPOINT", origin, "the checkpoint of the chain differs from the seal")
    opened = open_note(chain["checkpoint"].encode(), policy.logs)
    if isinstance(opened, str) and "wrong" in opened:
        report.fail("CHAIN_CHECKPOINT", origin, opened)


def check_seal_log(files, at, handovers, policy, now, report):
    place = "seal.tlog-proof"
    proof = parse_tlog_proof(files[place])
    note = split_note(proof[2]) if proof else None
    checkpoint = parse_checkpoint(note[0]) if note else None
    if checkpoint is None:
        report.fail("SEAL_INCLUSION", place, "it cannot be read")
        return
    origin, size, root = checkpoint
    if root_from_path(proof[0], size, leaf_hash(files["seal.json"]), proof[1]) != root:
        report.fail("SEAL_INCLUSION", place, "the seal does not stand in the seal log at this index")
    seal = read_json(files["seal.json"]) if read_seal(files["seal.json"])[0] else None
    known, in_force, fault, report.heir = seal_signers(seal, handovers, proof[2], checkpoint, policy)
    opened = open_note(proof[2], known + list(policy.witnesses.values()))
    verified = {} if isinstance(opened, str) else opened[1]
    if isinstance(opened, str):
        report.fail("SEAL_SIGNATURE", place, opened)
    elif not any((key.name, key.id) in verified for key in in_force):
        report.fail("SEAL_SIGNATURE", place, fault or "no log of your policy signed this checkpoint as its own")
    if not policy.is_met(verified):
        report.lack("WITNESS_QUORUM", place, "too few witnesses of your policy cosigned it")
    if at is None:
        return
    sealed_at = instant(at)
    if sealed_at > now + SKEW:
        report.lack("SEAL_TIME", "seal.json", "the seal is from the future")
    for when, key in verified.values():
        if key.kind == 4 and not sealed_at - SKEW <= when <= now + SKEW:
            report.lack("SEAL_TIME", place, "%s cosigned at an impossible time" % key.name)


def check_services(batches, receipts, everything, chains, policy, report):
    if not policy.batch_keys:
        report.skipped.append("BATCH_SIGNATURE")
    else:
        for batch in batches:
            place = "%s batch to %d" % (batch["origin"], batch["lastSeq"])
            chain = chains.get(batch["origin"])
            listed = chain["listed"].get(batch["lastSeq"]) if chain else None
            if chain and batch["lastSeq"] >= chain["size"]:
                report.lack("BATCH_SIGNATURE", place, "the batch ends after the seal, so its end is not proven")
            elif chain and listed != batch["lastHash"]:
                report.fail("BATCH_SIGNATURE", place, "the batch does not end in the record that the tree has there")
            text = "baton/batch/v1\n%s\n%d\n%d\n%s\n" % (
                batch["origin"], batch["firstSeq"], batch["lastSeq"], batch["lastHash"])
            key = policy.batch_keys.get(batch["keyId"])
            if key is None or not ed25519_verify(key, text.encode(), unbase64(batch["signature"]) or b""):
                report.fail("BATCH_SIGNATURE", place, "no append service of your policy signed it")
        for record in everything:
            b = record.body
            if not any(x["origin"] == b["origin"] and x["firstSeq"] <= b["seq"] <= x["lastSeq"]
                       and x["keyId"] == b["keyIds"]["batch"] for x in batches):
                report.fail("BATCH_SIGNATURE", record.place, "the record is in no batch that was signed for it")
    if not receipts:
        report.skipped.append("RECEIPT")
    by_place = {(r.body["origin"], r.body["seq"]): r for r in everything}
    if len({(one["origin"], one["seq"]) for one in receipts}) != len(receipts):
        report.fail("RECEIPT", "receipts.json", "a record has two receipts")
    for one in receipts:
        record = by_place.get((one["origin"], one["seq"]))
        if record is None:
            report.fail("RECEIPT", "%s record %d" % (one["origin"], one["seq"]), "the record of a receipt is missing")
        elif (one["recordHash"], one["recordedAt"]) != (record.hex, record.body["recordedAt"]):
            report.fail("RECEIPT", record.place, "the receipt is for another record")


def check_texts(files, records, erasures, lists, report):
    erased = {}
    if len(lists) != len(erasures):
        report.fail("ERASURE", "erasure-lists.json", "there is not one list for each erasure record")
    for record, places in zip(erasures, lists):
        said = record.body.get("erasure") or {}
        text = "".join("%s %d %d\n" % tuple(place) for place in sorted(map(tuple, places)))
        if record.body["event"] not in ERASING or said.get("segments") != len(places) \
                or said.get("listSha256") != hashlib.sha256(text.encode()).hexdigest():
            report.fail("ERASURE", record.place, "the list is not the one that the record names")
        for place in places:
            erased[tuple(place)] = said.get("subjectRef")
    stored, texts = {}, {}
    lines = files.get("payloads.jsonl", b"").split(b"\n")
    if lines.pop() != b"":
        report.fail("PAYLOAD", "payloads.jsonl", "the last line is cut")
    for line in lines:
        one = read_json(line)
        if not isinstance(one, dict) or set(one) != {"origin", "seq", "segment", "salted"} \
                or (one["origin"], one["seq"], one["segment"]) in stored:
            report.fail("PAYLOAD", "payloads.jsonl", "a line cannot be read or stands twice")
            continue
        stored[(one["origin"], one["seq"], one["segment"])] = unbase64(one["salted"]) or b""
    for record in records:
        for named in record.body["payload"]:
            place = (record.body["origin"], record.body["seq"], named["segment"])
            salted = stored.pop(place, None)
            if salted is not None:
                digest = hashlib.sha256(b"baton/commit/v1\n" + salted).hexdigest()
                good = len(salted) - 32 == named["bytes"] and digest == named["commitment"]
                status = "present" if good else "mismatch"
                texts[place] = salted[32:]
            elif erased.get(place) == named["subjectRef"]:
                status = "erased"
            else:
                status = "missing" if "payloads.jsonl" in files else "withheld"
            report.segments.append(dict(zip(("origin", "seq", "segment", "status"), place + (status,))))
            if status in ("missing", "mismatch"):
                report.fail("PAYLOAD", record.place, "segment %d: %s" % (named["segment"], status))
    if stored:
        report.fail("PAYLOAD", "payloads.jsonl", "a text that no record names")
    return texts


# ---- What joins were given -----------------------------------------------------------------------
def read_text(texts, place):
    """The value of a text, numbers as they are written; None where it is erased, withheld or no JSON."""
    number = lambda digits: ("number", digits)
    try:
        return (json.loads(texts[place].decode("utf-8"), parse_int=number, parse_float=number),)
    except (KeyError, ValueError, RecursionError):
        return None


def place_of(record, kind, last=False):
    found = [one["segment"] for one in record.body["payload"] if one["kind"] == kind]
    return (record.body["origin"], record.body["seq"], found[-1 if last else 0]) if found else None


def write_text(value):
    """RFC 8785, with numbers as `read_text` has them."""
    if isinstance(value, tuple):
        return value[1]
    if isinstance(value, list):
        return "[" + ",".join(write_text(one) for one in value) + "]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(write_text(key) + ":" + write_text(value[key]) for key in keys) + "}"
    return json.dumps(value, ensure_ascii=False)


def digests_of(data, value):
    """Of its canonical form, and of its JSON, which stands for a value that has none."""
    forms = [data]
    try:
        forms.append(write_text(value).encode("utf-8"))
    except (ValueError, RecursionError):
        pass
    return [hashlib.sha256(form).hexdigest() for form in forms]


def fault_of(branches, known, depth=0):
    """What a join was told wrongly of its branches, and of those within them that nothing joined there."""
    joined, answers, parents, texts = known
    if not isinstance(branches, dict) or not branches or depth > DEPTH_MAX:
        return "it was told of no branch"
    for branch in branches.values():
        branch = branch if isinstance(branch, dict) else {}
        handoff, result = branch.get("handoffId"), branch.get("result")
        if isinstance(handoff, str) and handoff and depth == 0 and handoff not in joined:
            return "it was told of a handoff that it does not join"
        if branch.get("outcome") != "COMPLETED":
            continue
        if not isinstance(handoff, str) or handoff not in answers:
            return "it was told of a result that no record committed to"
        answer = read_text(texts, answers[handoff])
        if answer is None or answer[0] == result:
            continue
        cut = branch.get("cut")
        if isinstance(cut, dict) and result is None:
            if handoff in parents or cut.get("sha256") in digests_of(texts[answers[handoff]], answer[0]):
                continue
        if handoff not in parents or not isinstance(result, dict) or set(result) != {"branches"}:
            return "it was told of another result than the handoff %s came to" % handoff
        fault = fault_of(result["branches"], known, depth + 1)
        if fault:
            return fault
    return None


def check_joined(records, texts, report):
    answers, changed, joins = {}, set(), []
    for record in records:
        event, handoff = record.body["event"], record.body["handoffId"]
        if event in ("HANDOFF_REDACTED", "HANDOFF_REVISED"):
            changed.add(handoff)
        if event == "TASK_RESUMED" and "act" in record.body:
            changed.add(record.body["act"]["id"])
        answer = place_of(record, "result", last=True)
        if event == "EXECUTION_COMPLETED" and answer:
            answers[handoff] = answer
        if event == "HANDOFF_ACCEPTED" and "joins" in record.body and place_of(record, "message"):
            joins.append(record)
    handoffs = {record.body["handoffId"] for record in records}
    parents = {record.body["parentHandoffId"] for record in records}
    is_whole = any(record.body["taskSeq"] == 0 for record in records)
    for record in joins:
        if record.body["handoffId"] in changed:
            continue
        for handoff in record.body["joins"]:
            if handoff not in handoffs and is_whole:
                report.lack("JOINED", record.place, "it joins the handoff %s, of which there is no record" % handoff)
        message = read_text(texts, place_of(record, "message"))
        if message is None:
            continue
        state = message[0].get("currentState") if isinstance(message[0], dict) else None
        branches = state.get("branches") if isinstance(state, dict) else None
        fault = fault_of(branches, (record.body["joins"], answers, parents, texts))
        if fault:
            report.fail("JOINED", record.place, fault)


# ---- Decisions of people -------------------------------------------------------------------------
SIGNED = {"keyId": "[0-9a-f]{16}", "signedAt": r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z",
          "content": "[0-9a-f]{64}", "signature": "[A-Za-z0-9+/]{86}=="}


def act_id(signature):
    digits = hashlib.sha256(b"baton/act/v1\n" + signature.encode()).hexdigest()
    variant = "%x" % (int(digits[16], 16) & 3 | 8)
    digits = digits[:12] + "8" + digits[13:16] + variant + digits[17:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def seconds_of(text):
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None


def fault_of_decision(b, people):
    """(whether it is tampering, what is wrong) or None where its person signed it."""
    act = b.get("act") if isinstance(b.get("act"), dict) else {}
    signed, actor = act.get("signed"), act.get("actor")
    if "signed" not in act:
        return False, "nobody signed this decision"
    if not isinstance(signed, dict) or not isinstance(actor, str) or not all(
            isinstance(signed.get(name), str) and re.fullmatch(form, signed[name]) for name, form in SIGNED.items()) \
            or seconds_of(signed["signedAt"]) is None:
        return True, "the signature has another form"
    if act.get("id") != act_id(signed["signature"]):
        return True, "the act has not the id of its signature"
    if signed["keyId"] not in people:
        return False, "the key is nobody's who is named in your policy"
    event = "ERASURE_REQUESTED" if b["event"] == "ERASURE_DEFERRED" else b["event"]
    person, roles, key, end = people[signed["keyId"]]
    if person != actor:
        return True, "the key is another person's"
    if DECIDED_AS[event] not in roles:
        return False, "the key has not the role for it"
    at, recorded = seconds_of(signed["signedAt"]), seconds_of(b["recordedAt"])
    if end is not None and at >= end:
        return False, "the key had ended when it signed"
    about = "-" if DECIDED_AS[event] == "compliance" else b["handoffId"]
    lines = ["baton/decision/v1", event, b["taskId"], about, actor, signed["keyId"], signed["signedAt"], signed["content"], ""]
    if not ed25519_verify(key, "\n".join(lines).encode(), unbase64(signed["signature"]) or b""):
        return True, "the signature is not over this decision"
    if end is not None and (recorded is None or recorded >= end + ENDED_MAX):
        return False, "the key had ended long before it was recorded"
    return None


class Decisions:
    """Goes through the records in their order, and writes down (place, tampering, what is wrong)."""
    def __init__(self, people):
        self.people, self.found, self.number = people, [], 0
        self.begun, self.used, self.planned = set(), set(), {}
        self.senders, self.waiting = {}, {}
        self.voters, self.reasons, self.stopped = {}, {}, {}
        self.given, self.open, self.early = {}, {}, []

    def next(self, record):
        b = record.body
        if b["taskSeq"] == 0:
            self.begun.add(b["taskId"])
        self.go_through(record)
        event, handoff = b["event"], b["handoffId"]
        if event == "HANDOFF_REVISED":
            self.waiting.pop(handoff, None)
        if isinstance(b.get("sentBy"), str):
            self.senders.setdefault(handoff, set()).add(b["sentBy"])
            for place, actor in self.waiting.pop(handoff, []):
                if actor == b["sentBy"]:
                    self.found.append((place, True, "who decided about it had sent it"))
        if event in DECIDED_AS or event == "ERASURE_DEFERRED":
            self.number += 1
            fault = self.fault_of(b) or (self.is_own(record) and (True, "who decided about it had sent it"))
            if fault:
                self.found.append((record.place,) + fault)
        elif event in OVER:
            self.senders.pop(handoff, None)

    def fault_of(self, b):
        event, act = b["event"], b.get("act") if isinstance(b.get("act"), dict) else {}
        if event in PLANS:
            self.planned.setdefault(b["handoffId"], []).append(act.get("actor"))
        fault = fault_of_decision(b, self.people)
        if fault and fault[0]:
            return fault
        if event == "ERASURE_COMPLETED":
            plans = self.planned.get(b["handoffId"])
            if plans is None:
                return (True, "no record plans this erasure") if self.is_whole(b) else (False, "no record that is here plans this erasure")
            return (True, "one person alone had this erased") if act.get("actor") in plans else fault
        if fault or event in PLANS:
            return fault
        if act["id"] in self.used:
            return True, "the signature is that of an earlier decision"
        self.used.add(act["id"])
        return None

    def is_own(self, record):
        b = record.body
        event, handoff, actor = b["event"], b["handoffId"], b["act"]["actor"]
        if DECIDED_AS.get(event) != "reviewer":
            return False
        own = actor in self.senders.get(handoff, ())
        if event in OVER:
            self.senders.pop(handoff, None)
        elif handoff not in self.senders:
            self.waiting.setdefault(handoff, []).append((record.place, actor))
        return own

    def is_whole(self, b):
        return b["taskId"] in self.begun

    def go_through(self, record):
        """What was stopped, who voted, what was released, and what went on by it."""
        b = record.body
        event, handoff, release = b["event"], b["handoffId"], b.get("release")
        ballot = (handoff, b["epoch"])
        if event == "RELEASE_APPROVED":
            act = b.get("act")
            self.voters.setdefault(ballot, set()).add(str(act.get("actor")) if isinstance(act, dict) else "")
        elif event == "DEAD_LETTERED":
            self.reasons[ballot] = b["reason"]
            self.stopped[handoff] = max(b["epoch"], self.stopped.get(handoff, 0))
        elif event in ("HANDOFF_RELEASED", "HANDOFF_REDACTED"):
            if release is not None:
                self.given.setdefault(release, {})[handoff] = b["epoch"]
            if release is not None or event == "HANDOFF_REDACTED":
                self.open.setdefault(handoff, []).append((record, self.is_whole(b)))
        elif release is not None:
            given = self.given.get(release, {}).get(handoff)
            if given is None:
                self.early.append((record, self.is_whole(b)))
            elif given < self.stopped.get(handoff, 0) < b["epoch"]:
                self.found.append((record.place, True, "it rests on a release from before the handoff was stopped again"))
        if event in EFFECTS and handoff in self.open:
            waiting = self.open.pop(handoff)
            for one, whole in waiting:
                if b["epoch"] > one.body["epoch"] or (release is not None and one.body.get("release") == release):
                    self.count(one, whole, True)
                else:
                    self.open.setdefault(handoff, []).append((one, whole))

    def count(self, record, whole, went_on):
        b = record.body
        ballot = (b["handoffId"], b["epoch"])
        if ballot in self.reasons and self.reasons[ballot] != b["reason"]:
            self.found.append((record.place, True, "it names another reason than the one that the handoff was stopped for"))
        if not whole and b["handoffId"] not in self.stopped:
            return
        reason = self.reasons.get(ballot, None if went_on and whole else b["reason"])
        needed = 1 if b.get("release") is None and reason in ("POISON", "UNRECORDABLE") else 2
        votes = len(self.voters.get(ballot, ()))
        if votes < needed:
            self.found.append((record.place, True, "it takes the votes of %d people, and %d voted in time" % (needed, votes)))

    def finish(self):
        for waiting in self.open.values():
            for record, whole in waiting:
                self.count(record, whole, False)
        for record, whole in self.early:
            handoffs = self.given.get(record.body["release"])
            if handoffs is None and not whole:
                continue
            why = "no record gives" if handoffs is None else "was given later" if record.body["handoffId"] in handoffs else "is of another handoff"
            self.found.append((record.place, True, "it rests on a release that " + why))
        return self.found


def check_decisions(records, policy, report):
    decisions = Decisions(policy.people)
    for record in records:
        decisions.next(record)
    found = decisions.finish()
    if not policy.people:
        if decisions.number or found:
            report.skipped.append("DECISIONS")
        return
    for place, is_tampering, message in found:
        (report.fail if is_tampering else report.lack)("DECISIONS", place, message)


def check_ends(records, report):
    waiting = {}
    for record in records:
        if record.body["event"] == "HANDOFF_ACCEPTED":
            waiting[record.body["handoffId"]] = record
        elif record.body["event"] in ENDS:
            waiting.pop(record.body["handoffId"], None)
    for record in waiting.values():
        report.lack("TASK_END", record.place, "the handoff was accepted, and nothing says how it ended")


# ---- The ends of tasks ---------------------------------------------------------------------------
def are_ends(ends):
    """The form of `ends`, and its limits, before anything of it is decoded."""
    if not isinstance(ends, dict) or set(ends) != {"tasks", "nodes"}:
        return False
    tasks, nodes = ends["tasks"], ends["nodes"]
    return (isinstance(tasks, list) and isinstance(nodes, list) and len(tasks) <= TASKS_MAX
            and len(nodes) <= NODES_OF_TASK_MAX * len(tasks)
            and all(isinstance(node, str) and len(node) <= NODE_DIGITS_MAX for node in nodes)
            and all(is_uuid(task) for task in tasks))


def read_node(data):
    """("children", 16 hashes) or ("list", {task: (records, hash of the last)}); None for any other bytes."""
    if data[:1] == b"\1" and len(data) == 513:
        return "children", [data[at:at + 32] for at in range(1, 513, 32)]
    if data[:1] != b"\0" or len(data) == 1 or (len(data) - 1) % 52:
        return None
    entries = [(data[at:at + 16].hex(), int.from_bytes(data[at + 16:at + 20], "big"), data[at + 20:at + 52])
               for at in range(1, len(data), 52)]
    tasks = [task for task, _, _ in entries]
    if tasks != sorted(set(tasks)) or any(records == 0 for _, records, _ in entries):
        return None
    return "list", {task: (records, last) for task, records, last in entries}


def find_end(root, nodes, task, used):
    """(records, hash of the last), (0, None) where the map has no such task; None where no node leads to it."""
    key = task.replace("-", "")
    digits = hashlib.sha256(b"baton/task-map/v1\n" + bytes.fromhex(key)).hexdigest()
    expected = root
    for depth in range(NODES_OF_TASK_MAX):
        if expected == bytes(32):
            return 0, None
        node = read_node(nodes.get(expected, b""))
        if node is None:
            return None
        used.add(expected)
        kind, content = node
        if kind == "list":
            return content.get(key, (0, None))
        expected = content[int(digits[depth], 16)]
    return None


def check_task_ends(files, ends, records, report):
    """Whether the bundle has every record that its tasks had when the map of tasks was made."""
    rule, place = "TASK_COMPLETE", "proof.json"
    _, _, tasks = read_seal(files.get("seal.json", b""))
    if tasks is None:
        report.fail(rule, place, "the seal commits to no map of tasks")
        return
    chains = [chain["origin"] for chain in read_json(files["seal.json"])["chains"]]
    sizes, until = dict(zip(chains, tasks["sizes"])), tasks["at"]
    decoded = [unbase64(node) for node in ends["nodes"]]
    if None in decoded:
        report.fail(rule, place, "a node is not base64")
        return
    if ends["nodes"] != sorted(set(ends["nodes"])) or ends["tasks"] != sorted(set(ends["tasks"])):
        report.fail(rule, place, "its tasks or its nodes do not stand in their order, each once")
        return
    nodes, used = {hashlib.sha256(data).digest(): data for data in decoded}, set()
    proven = {task: find_end(unbase64(tasks["root"]), nodes, task, used) for task in ends["tasks"]}
    if len(used) != len(nodes):
        report.fail(rule, place, "it holds a node that no task needs")
    found, later = {task: [] for task in proven}, []
    for record in records:
        b = record.body
        if b["taskId"] not in found:
            report.fail(rule, record.place, "the end of the task of this record is not proven")
        elif b["seq"] >= sizes.get(b["origin"], 0):
            later.append({"origin": b["origin"], "seq": b["seq"], "recordedAt": b["recordedAt"]})
        else:
            found[b["taskId"]].append((b["taskSeq"], record.hash))
    for task, end in proven.items():
        if end is None:
            report.fail(rule, place, "no node that the seal commits to leads to the task " + task)
        elif len(found[task]) != end[0]:
            report.fail(rule, place, "task %s had %d records at %s, and %d are here" % (task, end[0], until, len(found[task])))
        elif end[0] and max(found[task])[1] != end[1]:
            report.fail(rule, place, "task %s: its last record of %s is another one" % (task, until))
    absent = [task for task, end in proven.items() if end == (0, None)]
    report.found_end = {"until": until, "later": later, "absent": absent}


def print_end(end, task):
    if end is None:
        return
    whole = "these tasks" if task is None else "this task"
    print("COMPLETE until %s: nothing of %s is missing." % (end["until"], whole))
    for absent in end["absent"]:
        print("ABSENT until %s: there was no record of the task %s." % (end["until"], absent))
    for one in end["later"][:SHOWN_MAX]:
        line = "LATER: %(origin)s record %(seq)d, recorded %(recordedAt)s; whether others came with it is not said" % one
        print("".join(c if c.isprintable() else "?" for c in line))
    if len(end["later"]) > SHOWN_MAX:
        print("LATER: %d more records" % (len(end["later"]) - SHOWN_MAX))


def read_proof(files, manifest, report):
    """The chains of `proof.json`, the ends of tasks that it has from version 2 on, and the hand-overs of version 4."""
    value, ends, handovers = read_json(files.get("proof.json", b"")), None, []
    if manifest["format"] in FORMATS[1:]:
        members = {"chains", "ends", "handovers"} if manifest["format"] == FORMATS[3] else {"chains", "ends"}
        is_whole = isinstance(value, dict) and set(value) == members
        has_none = is_whole and manifest["format"] in FORMATS[2:] and value["ends"] is None
        is_whole = is_whole and (has_none or are_ends(value["ends"])) and are_handovers(value.get("handovers", []))
        value, ends, handovers = (value["chains"], value["ends"], value.get("handovers", [])) if is_whole else (None, None, [])
    if are_chains(value):
        return value, ends, handovers
    report.fail("RECORD_HASH", "proof.json", "it is missing or cannot be read")
    return [], None, []


def are_handovers(handovers):
    return (isinstance(handovers, list) and len(handovers) <= HANDOVERS_MAX and are_proofs_of_handovers(handovers)
            and all(len(one["path"]) <= PATH_MAX for one in handovers))


def read_part(files, name, has_form, report, rule):
    value = read_json(files.get(name, b""))
    if has_form(value):
        return value
    report.fail(rule, name, "it is missing or cannot be read")
    return []


def verify(data, policy, now, report):
    files = read_tar(data, report)
    manifest = check_files(files, policy, report)
    for name in REQUIRED:
        if name not in files:
            report.fail("MANIFEST", name, "the file is missing")
    records = read_records("records.jsonl", files.get("records.jsonl", b""), report)
    erasures = read_records("erasures.jsonl", files.get("erasures.jsonl", b""), report)
    chains = {}
    listed, ends, handovers = read_proof(files, manifest, report)
    for chain in listed:
        if chain["origin"] in chains:
            report.fail("RECORD_HASH", "proof.json", "a chain stands twice")
        chains[chain["origin"]] = dict(chain, listed=dict(map(tuple, chain["leaves"])))
    batches = read_part(files, "batches.json", are_batches, report, "BATCH_SIGNATURE")
    receipts = read_part(files, "receipts.json", are_receipts, report, "RECEIPT")
    lists = read_part(files, "erasure-lists.json", are_erasure_lists, report, "ERASURE")
    check_records(records, erasures, manifest, chains, report)
    check_seal(files, records + erasures, chains, handovers, policy, now, report)
    check_services(batches, receipts, records + erasures, chains, policy, report)
    texts = check_texts(files, records, erasures, lists, report)
    check_decisions(records + erasures, policy, report)
    check_joined(records, texts, report)
    check_ends(records, report)
    if ends is not None:
        check_task_ends(files, ends, records, report)
    if policy.quorum == "none":
        report.skipped.append("WITNESS_QUORUM")
    return manifest["taskId"], len(records)


def main():
    parser = argparse.ArgumentParser(description="Verifies a baton-evidence bundle offline.")
    parser.add_argument("bundle")
    parser.add_argument("--policy", required=True, help="your own C2SP tlog-policy file")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--now", type=int, default=int(time.time()), help="POSIX seconds; for tests")
    given = parser.parse_args()
    try:
        with open(given.bundle, "rb") as bundle, open(given.policy, "rb") as policy_file:
            data, policy_bytes = bundle.read(), policy_file.read()
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        policy = Policy(policy_bytes)
    except ValueError as error:
        print("%s: %s" % (given.policy, error), file=sys.stderr)
        return 2
    if not is_bundle(data):
        print(json.dumps({"verdict": "not-a-bundle"}) if given.json else "NOT A BUNDLE: this file is something else")
        return 2
    report = Report()
    try:
        task, records = verify(data, policy, given.now, report)
    except (TypeError, KeyError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as error:
        task, records = None, 0
        report.fail("FORM", given.bundle, "a part has a form that no bundle has (%s)" % type(error).__name__)
    verdict = report.verdict()
    if given.json:
        print(json.dumps({"verdict": verdict, "taskId": task, "records": records, "findings": report.findings,
                          "incomplete": report.incomplete, "skipped": report.skipped, "notExcluded": report.not_excluded(), "end": report.end(),
                          "segments": report.segments}))
    else:
        print("task %s, %d records" % (task, records))
        for mark, group in (("FAILED", report.findings), ("MISSING", report.incomplete)):
            for one in group:
                line = "%-8s %s: %s: %s" % (mark, one["rule"], one["place"], one["message"])
                print("".join(c if c.isprintable() else "?" for c in line))
        for rule in report.skipped:
            print("skipped  %s" % rule)
        modest = [rule for rule in report.skipped if rule != "EXPORTER_SIGNATURE" or report.end() is None]
        print(verdict.upper() + (" as far as it goes" if verdict == "valid" and modest else ""))
        print_end(report.end(), task)
        for text in report.not_excluded():
            print("NOT EXCLUDED: " + text)
    return {"valid": 0, "tampered": 3, "incomplete": 4, "clock": 4, "unsupported": 4}[verdict]


if __name__ == "__main__":
    sys.exit(main())
