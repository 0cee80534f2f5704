// Copies the cold store into the pool that all backups of a folder share: an object never changes, so it is copied once.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ColdStore } from '@baton/audit'
import { permanent } from '@baton/runtime'
import { writeDurably } from './backup-folder.ts'
import { openPlain } from './plain-files.ts'

export interface ColdObject {
  readonly name: string
  readonly bytes: number
  /** Of the object as readers get it, whatever it is packed in; lower-case hex. */
  readonly sha256: string
}

export const COLD_LIST = 'cold.jsonl'
const AT_ONCE = 16

/** A signed tree head is the one object that moves. */
const moves = (name: string): boolean => name.endsWith('/checkpoint')

interface CopyColdOptions {
  readonly from: ColdStore
  readonly pool: ColdStore
  /** What is known of objects by an earlier backup: they are not read again. */
  readonly known: ReadonlyMap<string, ColdObject>
  readonly onProgress: (objects: number) => void
}

/** Everything that is in the store when it is listed. Throws BATON_BACKUP_COLD_DIFFERS where the pool has another object of that name. */
export async function copyCold(options: CopyColdOptions): Promise<readonly ColdObject[]> {
  const { from, pool, known, onProgress } = options
  const names = await from.list('')
  // What leads to the heads is there before they are: heads are copied last.
  const ordered = [...names.filter((name) => !moves(name)), ...names.filter(moves)]
  const copied: ColdObject[] = []
  for (let at = 0; at < ordered.length; at += AT_ONCE) {
    const some = ordered.slice(at, at + AT_ONCE)
    const found = await Promise.all(
      some.map(async (name) => known.get(name) ?? copyOne(name, { from, pool })),
    )
    copied.push(...found.filter((object) => object !== undefined))
    onProgress(copied.length)
  }
  return copied
}

/** Undefined where it expired or was erased meanwhile. */
async function copyOne(
  name: string,
  { from, pool }: Pick<CopyColdOptions, 'from' | 'pool'>,
): Promise<ColdObject | undefined> {
  const bytes = await from.get(name)
  if (bytes === undefined) return undefined
  if (bytes === null) throw damaged(name, from)
  const object = { name, bytes: bytes.length, sha256: sha256Of(bytes) }
  if (moves(name)) await pool.replace(name, bytes)
  else if ((await pool.putIfAbsent(name, bytes)) === 'present') {
    const there = await pool.get(name)
    if (!there || sha256Of(there) !== object.sha256) throw differs(name, pool)
  }
  return object
}

export const sha256Of = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

export const writeColdList = (folder: string, objects: readonly ColdObject[]): Promise<void> =>
  writeDurably(
    join(folder, COLD_LIST),
    objects.map((object) => `${JSON.stringify(object)}\n`).join(''),
  )

/** What an earlier backup has listed, but for what moves; nothing where it has no list. */
export async function readColdList(folder: string): Promise<ReadonlyMap<string, ColdObject>> {
  const known = new Map<string, ColdObject>()
  try {
    const input = (await openPlain(join(folder, COLD_LIST))).createReadStream()
    for await (const line of createInterface({ input })) {
      const object = JSON.parse(line) as ColdObject
      known.set(object.name, object)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return known
}

export const withoutHeads = (
  objects: ReadonlyMap<string, ColdObject>,
): ReadonlyMap<string, ColdObject> => new Map([...objects].filter(([name]) => !moves(name)))

const damaged = (name: string, { description }: ColdStore) =>
  permanent('BATON_BACKUP_COLD_DIFFERS', `${name} in ${description} is damaged`, {
    fix: 'Mend it first: `baton audit tiers` names every such object, infra/runbooks/cold-faults.md says how.',
  })

const differs = (name: string, { description }: ColdStore) =>
  permanent(
    'BATON_BACKUP_COLD_DIFFERS',
    `${name} in ${description} is another object than the one in the cold store`,
    {
      fix: 'Objects never change: one of the two was altered, or the folder is that of another installation. `baton audit tiers` judges the cold store; a new folder of backups begins anew.',
    },
  )
