// Lists every schema with its digest in schemas/registry.json; one that is part of a release never changes.
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'

interface Entry {
  readonly id: string
  readonly path: string
  readonly sha256: string
}

const PATHS = [
  'handoff/2.0.json',
  'handoff/2.1.json',
  'handoff/2.2.json',
  'checkpoint/1.json',
  'decision-record/1.json',
  'decision-record/1.1.json',
  'decision-record/1.2.json',
  'dead-letter/1.json',
  'event-handoff/1.json',
  'event-alert/1.json',
  'event-test/1.json',
  'spec/handoff-v0.1.json',
] as const

/** Of no release yet: what is added to records before the next one is added to it. */
const GROWING: ReadonlySet<string> = new Set([
  'decision-record/1.2.json',
  'event-handoff/1.json',
  'event-alert/1.json',
  'event-test/1.json',
])

const ROOT = new URL('../../schemas/', import.meta.url)
const REGISTRY = new URL('registry.json', ROOT)

async function entryOf(path: string): Promise<Entry> {
  const bytes = await readFile(new URL(path, ROOT))
  const { $id: id } = JSON.parse(bytes.toString()) as { $id: string }
  return { id, path, sha256: createHash('sha256').update(bytes).digest('hex') }
}

const listed = JSON.parse(await readFile(REGISTRY, 'utf8').catch(() => '[]')) as readonly Entry[]
const found = await Promise.all(PATHS.map(entryOf))
const changed = listed.filter(
  ({ path, sha256 }) =>
    !GROWING.has(path) && found.some((entry) => entry.path === path && entry.sha256 !== sha256),
)
for (const { path } of changed)
  process.stderr.write(`${path} differs from what was published: write a new version instead\n`)
if (changed.length > 0) process.exitCode = 1
else await writeFile(REGISTRY, `${JSON.stringify(found, null, 2)}\n`)
