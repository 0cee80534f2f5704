// The logs as they stand in the end, read past every service: the database as a superuser, the cold store object by object.
import {
  openColdStore,
  openLogArchive,
  readArchivePositions,
  readHeads,
  sealerKey,
} from '@baton/audit'
import type { ColdStore, Pool } from '@baton/audit'
import {
  encodeUtf8,
  EVENT_NUMBERS,
  hashLeaf,
  openNote,
  parseCheckpoint,
  sealLogOrigin,
  TILE_WIDTH,
  toHex,
} from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import type { LogCopy, LoggedRecord, SeenCheckpoint } from './ledger-evidence.ts'
import type { ObservedNote } from './ledger-observer.ts'

const EVENT_NAMES = new Map(
  Object.entries(EVENT_NUMBERS).map(([name, number]) => [Number(number), name]),
)

interface StoredRecord extends Record<string, unknown> {
  readonly origin: string
  readonly seq: number
  readonly event: number
  readonly handoffId: string
  readonly body: Buffer
}

/** Every record of every chain, in order. */
export async function readRecords(pool: Pool): Promise<readonly LoggedRecord[]> {
  const { rows } = await pool.query<StoredRecord>({
    text: `select h.origin, r.seq::int as seq, r.event, r.handoff_id as "handoffId", r.body
      from audit.record r join audit.head h on h.chain = r.chain order by r.chain, r.seq`,
  })
  return rows.map(({ origin, seq, event, handoffId, body }) => ({
    origin,
    seq,
    handoffId,
    hash: toHex(hashLeaf(body)),
    event: EVENT_NAMES.get(event) ?? `event ${event}`,
    epoch: (JSON.parse(body.toString('utf8')) as { epoch: number }).epoch,
  }))
}

/** The chains and the seal log as the database holds them. */
export async function readHotLogs(
  pool: Pool,
  records: readonly LoggedRecord[],
): Promise<readonly LogCopy[]> {
  const heads = await readHeads(pool)
  const seals = await pool.query<{ seq: number; body: Buffer }>({
    text: 'select seq::int as seq, body from audit.seal order by seq',
  })
  const sealLeaves = seals.rows.map(({ seq, body }) => ({ seq, hash: toHex(hashLeaf(body)) }))
  const byOrigin = Map.groupBy(records, ({ origin }) => origin)
  return [
    copyOf(sealLogOrigin(heads[0]?.origin ?? ''), sealLeaves),
    ...heads.map(({ origin }) => copyOf(origin, byOrigin.get(origin) ?? [])),
  ]
}

function copyOf(
  origin: string,
  stored: readonly { readonly seq: number; readonly hash: string }[],
): LogCopy {
  const leaves: string[] = Array.from({ length: (stored.at(-1)?.seq ?? -1) + 1 }, () => '')
  for (const { seq, hash } of stored) leaves[seq] = hash
  return { origin, leaves }
}

export function coldStoreOf(folder: string): ColdStore {
  const store = openColdStore({
    BATON_COLD_FOLDER: folder,
    BATON_COLD_S3_BUCKET: undefined,
    BATON_COLD_S3_REGION: '',
    BATON_COLD_S3_ENDPOINT: undefined,
    BATON_COLD_S3_LOCK_DAYS: 0,
  })
  if (store === undefined) throw new Error('the system has no cold store')
  return store
}

/** The same logs out of the cold store, as far as they are archived. */
export async function readColdLogs(pool: Pool, folder: string): Promise<readonly LogCopy[]> {
  const store = coldStoreOf(folder)
  const heads = await readHeads(pool)
  const origins = new Map(heads.map(({ chain, origin }) => [chain, origin]))
  const copies: LogCopy[] = []
  for (const { log, size, tail } of (await readArchivePositions(pool)).values()) {
    const origin = origins.get(log) ?? sealLogOrigin(heads[0]?.origin ?? '')
    const cold = (await openLogArchive({ store, origin, size })).reread()
    const leaves: string[] = []
    for (let index = 0; index * TILE_WIDTH < tail; index += 1) {
      const width = Math.min(TILE_WIDTH, tail - index * TILE_WIDTH)
      const bundle = await cold.bundle(index, width)
      const entries = bundle.kind === 'found' ? bundle.content.slice(0, width) : []
      for (let at = 0; at < width; at += 1) {
        const entry = entries[at]
        leaves.push(entry === undefined ? '' : toHex(hashLeaf(entry)))
      }
    }
    copies.push({ origin, leaves })
  }
  return copies
}

/** Every note that the database still holds: of each seal, of each chain, and the cosigned one. */
export async function readStoredNotes(pool: Pool): Promise<readonly ObservedNote[]> {
  const { rows } = await pool.query<{ note: string }>({
    text: `select note from audit.seal union all select note from audit.chain_checkpoint
      union all select note from audit.witnessed`,
  })
  return rows.map(({ note }) => ({ from: 'database', note }))
}

/** What was signed; a note that the sealer's key does not open is foreign. */
export function openNotes(
  notes: readonly ObservedNote[],
  publicKey: KeyObject,
): { readonly checkpoints: readonly SeenCheckpoint[]; readonly foreignNotes: readonly string[] } {
  const checkpoints: SeenCheckpoint[] = []
  const foreignNotes: string[] = []
  for (const { from, note } of notes) {
    const origin = note.slice(0, note.indexOf('\n'))
    const opened = openNote(encodeUtf8(note), [sealerKey(origin, publicKey)])
    const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined
    if (checkpoint === undefined) foreignNotes.push(`not signed by the sealer: ${origin}, ${from}`)
    else checkpoints.push({ from, origin, size: checkpoint.size, root: toHex(checkpoint.root) })
  }
  return { checkpoints, foreignNotes }
}
