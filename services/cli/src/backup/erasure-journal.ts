// The journal of erasures beside the backups: what a restored database that is older than an erasure does not know.
import { appendFile, truncate } from 'node:fs/promises'
import { createPool, readErasureJournal } from '@baton/audit'
import type { JournalledErasure } from '@baton/audit'
import { permanent } from '@baton/runtime'
import { sync } from './backup-folder.ts'
import { readPlain } from './plain-files.ts'

/** A line of the file: an erasure, or that until then there were no others. */
type Line = { readonly erasure: JournalledErasure } | { readonly completeUntil: string }

export interface ErasureJournal {
  readonly erasures: readonly JournalledErasure[]
  /** Every erasure that was decided before is in it; null where nobody ever looked. */
  readonly completeUntil: string | null
}

/** What was kept; nothing where there is no such file. Throws BATON_BACKUP_UNREADABLE. */
export async function readJournal(path: string): Promise<ErasureJournal> {
  const text = (await readIfThere(path)).toString()
  const erasures = new Map<string, JournalledErasure>()
  let completeUntil: string | null = null
  // A line that a crash cut is the last one, and was told to nobody.
  for (const line of text.split('\n').slice(0, -1)) {
    const read = parse(line, path)
    if ('erasure' in read) erasures.set(read.erasure.id, read.erasure)
    else completeUntil = read.completeUntil
  }
  return { erasures: [...erasures.values()], completeUntil }
}

function parse(line: string, path: string): Line {
  try {
    return JSON.parse(line) as Line
  } catch (cause) {
    throw permanent('BATON_BACKUP_UNREADABLE', `a line of ${path} is damaged`, {
      cause,
      fix: 'Take the journal out of the newest backup instead, and name it with --erasures.',
    })
  }
}

/** Both of several journals: every erasure that one of them has, complete as far as the one that has seen most. */
export function mergeJournals(journals: readonly ErasureJournal[]): ErasureJournal {
  const all = journals.flatMap(({ erasures }) => erasures)
  const untils = journals.map(({ completeUntil }) => completeUntil).filter((at) => at !== null)
  return {
    erasures: [...new Map(all.map((erasure) => [erasure.id, erasure])).values()],
    completeUntil: untils.toSorted().at(-1) ?? null,
  }
}

/**
 * Adds what the log knows and the journal does not, durably. Erasures whose keys are not named yet are told again once they are.
 * Answers all of them.
 */
export async function extendJournal(path: string, auditUrl: string): Promise<ErasureJournal> {
  const askedAt = new Date().toISOString()
  return appendToJournal(path, { erasures: await readKnown(auditUrl), completeUntil: askedAt })
}

/** Of `now`, what the journal has not yet. Answers what it has then. */
export async function appendToJournal(path: string, now: ErasureJournal): Promise<ErasureJournal> {
  await removeCutLine(path)
  const before = await readJournal(path)
  const told = new Map(before.erasures.map((erasure) => [erasure.id, JSON.stringify(erasure)]))
  const news = now.erasures.filter((erasure) => told.get(erasure.id) !== JSON.stringify(erasure))
  const lines = [...news.map((erasure) => ({ erasure })), { completeUntil: now.completeUntil }]
  await appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
  await sync(path)
  return mergeJournals([before, now])
}

/** What a crash or a full disk cut was told to nobody; the next line would be damaged by it. */
async function removeCutLine(path: string): Promise<void> {
  const bytes = await readIfThere(path)
  const whole = bytes.lastIndexOf('\n') + 1
  if (whole < bytes.length) await truncate(path, whole)
}

const readIfThere = (path: string): Promise<Buffer> =>
  readPlain(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0)
    throw error
  })

async function readKnown(auditUrl: string): Promise<readonly JournalledErasure[]> {
  const pool = createPool({ url: auditUrl, applicationName: 'baton-backup', connectionsMax: 1 })
  try {
    return await readErasureJournal(pool)
  } finally {
    await pool.end()
  }
}
