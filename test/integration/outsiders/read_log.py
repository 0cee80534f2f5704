"""Reads a log with Python's standard library alone: every entry leads to the root of the signed tree head, by hash tiles over HTTP."""
import base64
import hashlib
import sys
import urllib.request

URL, TOKEN = sys.argv[1:3]


def get(path):
    request = urllib.request.Request(URL + "/" + path, headers={"Authorization": "Bearer " + TOKEN})
    with urllib.request.urlopen(request) as response:
        return response.read()


def path_of(level, index, width):
    text = str(index)
    text = text.zfill(-(-len(text) // 3) * 3)
    groups = [text[at : at + 3] for at in range(0, len(text), 3)]
    name = "/".join(["x" + group for group in groups[:-1]] + groups[-1:])
    return "tile/%s/%s%s" % (level, name, "" if width == 256 else ".p/%d" % width)


def fold(hashes):
    """RFC 6962, section 2.1."""
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return hashlib.sha256(b"\x01" + fold(hashes[:split]) + fold(hashes[split:])).digest()


def tiles(level, items, length):
    found = []
    for index in range(-(-items // 256)):
        width = min(256, items - index * 256)
        data = get(path_of(level, index, width))
        assert len(data) == width * length
        found += [data[at : at + length] for at in range(0, len(data), length)]
    return found


origin, size, root = get("checkpoint").decode().split("\n")[:3]
size, root = int(size), base64.b64decode(root)
entries = []
for index in range(-(-size // 256)):
    data = get(path_of("entries", index, min(256, size - index * 256)))
    while data:
        length = int.from_bytes(data[:2], "big")
        entries.append(data[2 : 2 + length])
        data = data[2 + length :]
leaves = [hashlib.sha256(b"\x00" + entry).digest() for entry in entries]
assert len(leaves) == size and fold(leaves) == root
assert tiles(0, size, 32) == leaves
if size >= 256:
    assert tiles(1, size // 256, 32) == [fold(leaves[at : at + 256]) for at in range(0, size - 255, 256)]
print(origin, size)
