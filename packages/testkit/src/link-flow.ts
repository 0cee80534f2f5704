// One direction of one connection through a link: keeps the order of the bytes, whatever delays them.
import type { Socket } from 'node:net'
import type { Conditions } from './link-conditions.ts'

interface FlowOptions {
  readonly to: Socket
  readonly conditions: () => Conditions
  /** Whether its bytes count towards `resetAfterBytes`. */
  readonly counted: boolean
  /** Resets the whole connection. */
  readonly reset: () => void
}

export interface Flow {
  write(chunk: Buffer): void
  /** Ends the other side once everything written so far is through. */
  end(): void
}

const STALL_MS_MIN = 200
const STALL_MS_MAX = 1_000
const HELD_POLL_MS = 20
/** A large body is sliced at its beginning only: a megabyte of single bytes would test nothing else. */
const SLICES_MAX = 200

export function createFlow({ to, conditions, counted, reset }: FlowOptions): Flow {
  const waiting: { readonly piece: Buffer | null; readonly at: number }[] = []
  let timer: NodeJS.Timeout | undefined
  let lastAt = 0
  let passed = 0

  function pass(piece: Buffer | null): void {
    if (piece === null) return void to.destroy()
    const { resetAfterBytes } = conditions()
    if (resetAfterBytes > 0 && counted) {
      passed += piece.length
      if (passed > resetAfterBytes) return reset()
    } else passed = 0
    if (to.writable) to.write(piece)
  }

  function drain(): void {
    timer = undefined
    if (conditions().held) return void (timer = setTimeout(drain, HELD_POLL_MS))
    while (waiting[0] !== undefined && waiting[0].at <= performance.now()) {
      const next = waiting.shift()
      if (next !== undefined) pass(next.piece)
    }
    const [head] = waiting
    if (head !== undefined) timer = setTimeout(drain, Math.max(1, head.at - performance.now()))
  }

  function enqueue(piece: Buffer | null, delayMs: number): void {
    if (delayMs === 0 && waiting.length === 0 && !conditions().held) return pass(piece)
    lastAt = Math.max(lastAt, performance.now() + delayMs)
    waiting.push({ piece, at: lastAt })
    timer ??= setTimeout(drain, delayMs)
  }

  return {
    write(chunk) {
      const now = conditions()
      for (const piece of slices(chunk, now.sliceBytes)) enqueue(piece, delayOf(now))
    },
    end: () => enqueue(null, 0),
  }
}

function delayOf({ latencyMs, jitterMs, stallShare }: Conditions): number {
  const stalled = Math.random() < stallShare
  const stallMs = stalled ? STALL_MS_MIN + Math.random() * (STALL_MS_MAX - STALL_MS_MIN) : 0
  return latencyMs + Math.random() * jitterMs + stallMs
}

function slices(chunk: Buffer, bytes: number): readonly Buffer[] {
  if (bytes === 0) return [chunk]
  const pieces: Buffer[] = []
  let from = 0
  for (; from < chunk.length && pieces.length < SLICES_MAX; from += bytes) {
    pieces.push(chunk.subarray(from, from + bytes))
  }
  if (from < chunk.length) pieces.push(chunk.subarray(from))
  return pieces
}
