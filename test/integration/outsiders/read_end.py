"""Proves the end of one task over HTTP: the seal leads to the signed tree head, and nodes of the map lead from the seal to the task, as verifier/FORMAT.md says."""
import base64
import hashlib
import json
import sys
import urllib.request

URL, TOKEN, TASK = sys.argv[1:4]


def get(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": "Bearer " + TOKEN})
    with urllib.request.urlopen(request) as response:
        return response.read()


def fold(hashes):
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return hashlib.sha256(b"\x01" + fold(hashes[:split]) + fold(hashes[split:])).digest()


head = get("/checkpoint").decode().split("\n")
size = int(head[1])
assert size <= 256
data = get("/tile/entries/000.p/%d" % size)
entries = []
while data:
    length = int.from_bytes(data[:2], "big")
    entries.append(data[2 : 2 + length])
    data = data[2 + length :]
assert fold([hashlib.sha256(b"\x00" + entry).digest() for entry in entries]) == base64.b64decode(head[2])

tasks = json.loads(entries[-1])["tasks"]
task = bytes.fromhex(TASK.replace("-", ""))
digits = hashlib.sha256(b"baton/task-map/v1\n" + task).hexdigest()
expected = base64.b64decode(tasks["root"])
name = ""
found = None
while expected != bytes(32):
    node = get("/tasks/%d/%s" % (tasks["seals"], name or "root"))
    assert hashlib.sha256(node).digest() == expected
    if node[0] == 0:
        ends = [node[at : at + 52] for at in range(1, len(node), 52)]
        found = next((end for end in ends if end[:16] == task), None)
        break
    child = int(digits[len(name)], 16)
    expected = node[1 + child * 32 : 33 + child * 32]
    name += digits[len(name)]
if found is None:
    print("no record until", tasks["at"])
else:
    print(int.from_bytes(found[16:20], "big"), "records, the last is", found[20:].hex())
