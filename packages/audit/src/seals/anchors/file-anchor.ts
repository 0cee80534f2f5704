// An anchor in a file that only grows: on a disk, share or collector outside the database's reach.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { transient } from '@baton/runtime'
import { readAnchored } from './anchor.ts'
import type { Anchor, AnchoredLog } from './anchor.ts'

/** A line is a note and some JSON around it; the last complete one lies within this tail. */
const TAIL_BYTES = 65_536

interface Line {
  readonly at: string
  readonly note: string
}

/**
 * The anchor as somebody sees it who only reads: the log is named by the file itself, so its keys
 * alone decide. Safe where the file does not exist.
 */
export function readFileAnchor(path: string, log: AnchoredLog): Pick<Anchor, 'name' | 'latest'> {
  return {
    name: 'file',
    async latest() {
      const line = await lastLine(path)
      if (line === undefined) return undefined
      const { at, note } = line
      const origin = note.slice(0, note.indexOf('\n'))
      const { keys } = await log()
      return { ...readAnchored(note, { origin, keys }), at }
    },
  }
}

/**
 * One JSON object per line: `{"at":…,"size":…,"note":…}`; each is durable before it counts. `knownSize` is what it has kept
 * before: a file that ends below it was emptied or lost, and is not begun anew.
 */
export function createFileAnchor(
  path: string,
  log: AnchoredLog,
  knownSize: () => number = () => 0,
): Anchor {
  return {
    name: 'file',
    async latest() {
      const note = await lastNote(path)
      return note === undefined ? undefined : readAnchored(note, await log())
    },
    async publish({ note, size }) {
      const before = await lastNote(path)
      if (before === note) return { kind: 'kept', note }
      const known = before === undefined ? 0 : readAnchored(before, await log()).size
      if (known >= size) {
        return { kind: 'conflict', message: `the anchor file has seen size ${known} already` }
      }
      if (known < knownSize()) {
        const message = `the anchor file ends at size ${known}, and had kept ${knownSize()}`
        return { kind: 'conflict', message }
      }
      const line = JSON.stringify({ at: new Date().toISOString(), size, note })
      await appendLine(path, line).catch((cause: unknown) =>
        Promise.reject(unavailable(path, cause)),
      )
      return { kind: 'kept', note }
    },
  }
}

/** The newest note, as it stands there. */
export const lastNote = async (path: string): Promise<string | undefined> =>
  (await lastLine(path))?.note

async function lastLine(path: string): Promise<Line | undefined> {
  try {
    const last = (await readTail(path)).split('\n').slice(0, -1).at(-1)
    return last === undefined ? undefined : (JSON.parse(last) as Line)
  } catch (cause) {
    throw unavailable(path, cause)
  }
}

const unavailable = (path: string, cause: unknown) =>
  transient('BATON_ANCHOR_UNAVAILABLE', `the anchor file ${path} cannot be used`, {
    cause,
    fix: 'Make the file and its folder writable for the sealer; sealing goes on meanwhile.',
  })

// Nobody who writes into a pipe is waited for.
const READING = constants.O_RDONLY | constants.O_NONBLOCK

async function readTail(path: string): Promise<string> {
  let file
  try {
    file = await open(path, READING)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new Error('this is no regular file')
    const { size } = found
    const start = Math.max(0, size - TAIL_BYTES)
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(size - start),
      0,
      size - start,
      start,
    )
    const text = buffer.toString('utf8', 0, bytesRead)
    // What follows the last line feed is a line that a crash cut off.
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1)
  } finally {
    await file.close()
  }
}

async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, 'a', 0o600)
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new Error('this is no regular file')
    const { size } = found
    const torn = size > 0 && !(await endsInLineFeed(path, size))
    await file.appendFile(`${torn ? '\n' : ''}${line}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function endsInLineFeed(path: string, size: number): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
    return buffer[0] === 0x0a
  } finally {
    await file.close()
  }
}
