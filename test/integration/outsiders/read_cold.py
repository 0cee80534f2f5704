"""Reads a cold store as it stands in a folder, with Python's standard library alone, no network and no database: the signature of each signed
tree head, every entry and every hash tile under it, and each chain against the log of seals over all of them.

read_cold.py FOLDER VERIFIER_KEY_OF_THE_SEAL_LOG VERIFIER_KEY_OF_A_CHAIN...
"""
import base64
import hashlib
import json
import os
import sys

FOLDER, SEAL_KEY, *CHAIN_KEYS = sys.argv[1:]


# Ed25519 by RFC 8032, section 5.1.7: only verifying, of what is public.
P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - square) % P == 0
    return P - x if x & 1 != sign else x


def decode_point(data):
    number = int.from_bytes(data, "little")
    y = number & ((1 << 255) - 1)
    x = recover_x(y, number >> 255)
    return x, y, 1, x * y % P


def add(one, other):
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signed(key, text, signature):
    r, s = decode_point(signature[:32]), int.from_bytes(signature[32:], "little")
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % ORDER
    x1, y1, z1, _ = times(s, BASE)
    x2, y2, z2, _ = add(r, times(challenge, decode_point(key)))
    return s < ORDER and (x1 * z2 - x2 * z1) % P == 0 and (y1 * z2 - y2 * z1) % P == 0


def fold(hashes):
    """RFC 6962, section 2.1."""
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return hashlib.sha256(b"\x01" + fold(hashes[:split]) + fold(hashes[split:])).digest()


def path_of(level, index):
    text = str(index)
    text = text.zfill(-(-len(text) // 3) * 3)
    groups = [text[at : at + 3] for at in range(0, len(text), 3)]
    return "tile/%s/%s" % (level, "/".join(["x" + group for group in groups[:-1]] + groups[-1:]))


class Log:
    """One log of the store, below the path that its origin is."""

    def __init__(self, key):
        self.origin, self.key_id, material = key.split("+", 2)
        self.key = base64.b64decode(material)[1:]

    def read(self, path):
        with open(os.path.join(FOLDER, self.origin, path), "rb") as file:
            return file.read()

    def tile(self, level, index, width):
        """A full tile may stand where a partial one is asked for."""
        path = path_of(level, index)
        try:
            return self.read(path)
        except FileNotFoundError:
            return self.read("%s.p/%d" % (path, width))

    def open_head(self):
        note = self.read("checkpoint").decode()
        text, _, lines = note.rpartition("\n\n")
        text += "\n"
        signatures = [line.split(" ")[1:] for line in lines.splitlines()]
        own = [base64.b64decode(data) for name, data in signatures if name == self.origin]
        own = [data[4:] for data in own if data[:4].hex() == self.key_id]
        assert len(own) == 1 and is_signed(self.key, text.encode(), own[0]), "not signed"
        origin, size, root = text.splitlines()[:3]
        assert origin == self.origin
        return int(size), base64.b64decode(root)

    def hashes(self, level, count):
        found = []
        for index in range(-(-count // 256)):
            width = min(256, count - index * 256)
            data = self.tile(level, index, width)
            found += [data[at : at + 32] for at in range(0, width * 32, 32)]
        return found

    def verify(self):
        size, root = self.open_head()
        self.entries = []
        for index in range(-(-size // 256)):
            width = min(256, size - index * 256)
            data = self.tile("entries", index, width)
            for _ in range(width):
                length = int.from_bytes(data[:2], "big")
                self.entries.append(data[2 : 2 + length])
                data = data[2 + length :]
        self.leaves = [hashlib.sha256(b"\x00" + entry).digest() for entry in self.entries]
        assert fold(self.leaves) == root, "entries do not lead to the signed root"
        level, hashes = 0, self.leaves
        while hashes:
            assert self.hashes(level, len(hashes)) == hashes, "a hash tile of level %d is wrong" % level
            level, hashes = level + 1, [fold(hashes[at : at + 256]) for at in range(0, len(hashes) - 255, 256)]
        print(self.origin, size)


seals = Log(SEAL_KEY)
seals.verify()
chains = [Log(key) for key in CHAIN_KEYS]
for chain in chains:
    chain.verify()


def covered(entry):
    return {one["origin"]: one for one in json.loads(entry)["chains"]}


def is_here(entry):
    heads = covered(entry)
    return all(heads[chain.origin]["size"] <= len(chain.leaves) for chain in chains)


# A seal may be newer than what is archived of some chain: the newest that all of them reach.
newest = next(at for at in reversed(range(len(seals.entries))) if is_here(seals.entries[at]))
for chain in chains:
    head = covered(seals.entries[newest])[chain.origin]
    assert fold(chain.leaves[: head["size"]]) == base64.b64decode(head["root"]), "not what was sealed"
print("seal", newest, "covers", sum(covered(seals.entries[newest])[chain.origin]["size"] for chain in chains))
