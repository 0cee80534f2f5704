"""Makes the map of tasks that the newest seal commits to, of tiles over HTTP alone, as verifier/FORMAT.md says."""
import base64
import hashlib
import json
import sys
import urllib.request

URL, TOKEN = sys.argv[1:3]


def get(path):
    request = urllib.request.Request(URL + path, headers={"Authorization": "Bearer " + TOKEN})
    with urllib.request.urlopen(request) as response:
        return response.read()


def entries(log, size):
    for index in range(-(-size // 256)):
        width = min(256, size - index * 256)
        data = get("%s/tile/entries/%03d%s" % (log, index, "" if width == 256 else ".p/%d" % width))
        while data:
            length = int.from_bytes(data[:2], "big")
            yield data[2 : 2 + length]
            data = data[2 + length :]


def digits_of(task):
    return hashlib.sha256(b"baton/task-map/v1\n" + bytes.fromhex(task)).hexdigest()


def hash_of(name, tasks):
    if not tasks:
        return bytes(32)
    if len(tasks) <= 16 or len(name) == 24:
        ends = (bytes.fromhex(task) + tasks[task][0].to_bytes(4, "big") + tasks[task][1] for task in sorted(tasks))
        return hashlib.sha256(b"\x00" + b"".join(ends)).digest()
    below = {digit: {} for digit in "0123456789abcdef"}
    for task, end in tasks.items():
        below[digits_of(task)[len(name)]][task] = end
    return hashlib.sha256(b"\x01" + b"".join(hash_of(name + digit, below[digit]) for digit in below)).digest()


def first(log):
    return int(get(log + "/checkpoint").decode().split("\n")[1])


seal = json.loads(list(entries("", first("")))[-1])
chains = {get("/chains/%d/checkpoint" % at).decode().split("\n")[0]: "/chains/%d" % at for at in range(len(seal["chains"]))}
tasks = {}
for chain, size in zip(seal["chains"], seal["tasks"]["sizes"]):
    for entry in entries(chains[chain["origin"]], size):
        record = json.loads(entry)
        tasks[record["taskId"].replace("-", "")] = (record["taskSeq"] + 1, hashlib.sha256(b"\x00" + entry).digest())
assert hash_of("", tasks) == base64.b64decode(seal["tasks"]["root"])
print(len(tasks), "tasks")
