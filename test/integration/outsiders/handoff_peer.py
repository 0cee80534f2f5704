"""A peer as protocol v0.1 describes one: eight fields, a folder, json.dump with indent=2, no locks, nothing else kept."""
import json
import os
import sys
import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Optional

FOLDER = Path(os.environ.get("HANDOFF_DIR", ".handoffs"))
NEXT = {"offered": ["accepted", "rejected"], "accepted": ["completed", "failed"], "failed": ["offered"]}


def now():
    return datetime.now(timezone.utc).isoformat()


@dataclass
class Handoff:
    task_id: str
    from_agent: str
    status: str
    description: str
    created_at: str
    updated_at: str
    to_agent: Optional[str] = None
    context: dict = field(default_factory=dict)

    def save(self):
        FOLDER.mkdir(exist_ok=True)
        with open(FOLDER / f"{self.task_id}.json", "w") as file:
            json.dump(asdict(self), file, indent=2)


def load_all():
    return [Handoff(**json.loads(path.read_text())) for path in sorted(FOLDER.glob("*.json"))]


def main(verb, *rest):
    if verb == "offer":
        at = now()
        made = Handoff(str(uuid.uuid4()), rest[1], "offered", rest[0], at, at, context=json.loads(rest[2]))
        made.save()
        print(made.task_id)
    elif verb == "list":
        for one in load_all():
            print(one.task_id, one.status, datetime.fromisoformat(one.updated_at).timestamp())
    else:
        (found,) = [one for one in load_all() if one.task_id.startswith(rest[0])]
        if verb not in NEXT.get(found.status, []):
            sys.exit(f"cannot go from {found.status} to {verb}")
        found.status, found.updated_at = verb, now()
        found.save()


main(*sys.argv[1:])
