// What peers of other protocols write down: what they were given, what they came to, and what they were told of their own tasks.
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from './effect-ledger.ts'

/** What an agent that is told no fencing token has done with a handoff. */
export interface PeerLine {
  readonly what: 'given' | 'finished'
  readonly handoffId: string
  /** What the agent said came of it, where its protocol has words for that. */
  readonly said?: string
  /** Milliseconds since 1970 by the machine's clock. */
  readonly at: number
}

/** What a peer was told of a task that it had given. */
export interface ToldLine {
  readonly taskId: string
  /** `queued`: it follows; otherwise the status of its result. */
  readonly status: string
  readonly messageId: string
  /** In an answer to its own request, or in a message of Baton's. */
  readonly how: 'answered' | 'pushed'
  readonly at: number
}

export interface PeerLedger {
  done(line: Omit<PeerLine, 'at'>): void
  told(line: Omit<ToldLine, 'at'>): void
}

const DONE = 'peers-done.jsonl'
const TOLD = 'peers-told.jsonl'

export function createPeerLedger(folder: string): PeerLedger {
  const append = (name: string, line: object): void => {
    const at = performance.timeOrigin + performance.now()
    appendFileSync(join(folder, name), `${JSON.stringify({ ...line, at })}\n`)
  }
  return { done: (line) => append(DONE, line), told: (line) => append(TOLD, line) }
}

/** Everything that the peers of a folder wrote down, each oldest first. */
export const readPeerLedger = (folder: string) => ({
  peers: linesOf<PeerLine>(join(folder, DONE)),
  told: linesOf<ToldLine>(join(folder, TOLD)),
})

const linesOf = <Line>(file: string): readonly Line[] =>
  existsSync(file) ? readLines<Line>(file) : []
