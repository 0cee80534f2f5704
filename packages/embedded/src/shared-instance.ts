// A server process shared by every Baton command of a checkout: the first starts it, later ones adopt it,
// and the last one to leave stops it. A command that was killed does not count as a user any more.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { holderOf, isAlive, withLock } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'

const LOCK_WAIT_MS = 240_000

/** How one kind of server is recognised, started and stopped. Called with the instance lock held. */
export interface Engine<Details> {
  /** True when the server of these details answers now. */
  isServing(details: Details): Promise<boolean>
  /** Starts it, or takes in a leftover one; `previous` is what the last start returned. */
  start(previous: Details | null): Promise<Details>
  stop(details: Details): Promise<void>
}

export interface Membership<Details> {
  readonly details: Details
  readonly source: 'started' | 'adopted'
  /** Stops the server when nobody else uses it. Safe to call twice. */
  leave(): Promise<void>
}

interface User extends Holder {
  readonly token: string
}

interface InstanceRecord<Details> {
  readonly details: Details
  readonly users: readonly User[]
}

/** Joins the instance recorded at `recordPath`, starting it when it does not answer. */
export async function joinInstance<Details>(
  recordPath: string,
  engine: Engine<Details>,
): Promise<Membership<Details>> {
  const user: User = { ...holderOf(), token: randomUUID() }
  await mkdir(dirname(recordPath), { recursive: true })
  return await underLock(recordPath, async () => {
    const record = await readRecord<Details>(recordPath)
    const adopted = record !== null && (await engine.isServing(record.details))
    const details = adopted ? record.details : await engine.start(record?.details ?? null)
    const others = (record?.users ?? []).filter((other) => isAlive(other))
    await writeRecord(recordPath, { details, users: [...others, user] })
    return {
      details,
      source: adopted ? 'adopted' : 'started',
      leave: () => leaveInstance(recordPath, engine, user),
    }
  })
}

/** Stops and forgets the instance recorded at `recordPath`, unless a living command uses it. */
export async function discardInstance<Details>(
  recordPath: string,
  engine: Pick<Engine<Details>, 'stop'>,
): Promise<void> {
  await underLock(recordPath, async () => {
    const record = await readRecord<Details>(recordPath)
    if (record === null || record.users.some((user) => isAlive(user))) return
    await engine.stop(record.details)
    await rm(recordPath)
  })
}

async function leaveInstance<Details>(
  recordPath: string,
  engine: Engine<Details>,
  user: User,
): Promise<void> {
  await underLock(recordPath, async () => {
    const record = await readRecord<Details>(recordPath)
    if (record === null || !record.users.some(({ token }) => token === user.token)) return
    const others = record.users.filter((other) => other.token !== user.token && isAlive(other))
    if (others.length === 0) await engine.stop(record.details)
    await writeRecord(recordPath, { details: record.details, users: others })
  })
}

async function underLock<Result>(recordPath: string, action: () => Promise<Result>) {
  return await withLock(`${recordPath}.lock`, { waitMs: LOCK_WAIT_MS }, action)
}

async function readRecord<Details>(recordPath: string): Promise<InstanceRecord<Details> | null> {
  try {
    return JSON.parse(await readFile(recordPath, 'utf8')) as InstanceRecord<Details>
  } catch {
    return null
  }
}

async function writeRecord<Details>(recordPath: string, record: InstanceRecord<Details>) {
  const draft = `${recordPath}.${process.pid}.draft`
  await writeFile(draft, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, recordPath)
}
