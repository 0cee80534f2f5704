// What waits to be published and what travels through a queue: pointers, never content.

/** A row of the outbox: everything a doorbell needs, so that publishing reads no other table. */
export interface OutboxRow {
  readonly seq: number
  readonly handoffId: string
  readonly taskId: string
  readonly generation: number
  readonly queue: string
  readonly priority: Priority
  readonly sha256: Uint8Array
  readonly bytes: number
  readonly traceparent: string
  readonly tracestate: string | null
  readonly createdAt: Date
}

/** How much waits for a relay; `oldestSeq` lets the next look begin there. */
export interface OutboxDepth {
  readonly depth: number
  readonly oldestAgeSeconds: number
  readonly oldestSeq: number
}

/** A relay's count of its publications into a queue. `relay` names one unbroken row of such marks. */
export interface QueueMark {
  readonly queue: string
  readonly relay: string
  readonly mark: number
}

/** A mark that is written only where the one before it is still there. */
export interface NextMark extends QueueMark {
  /** Null begins a new row of marks. */
  readonly previous: number | null
}

/** A mark that its queue no longer has, and the one it still has. */
export interface LostMark extends QueueMark {
  readonly survived: number | null
}

/** What a queue may have lost: all it was given from `since` until the loss was seen. */
export interface LostTail {
  readonly queue: string
  readonly since: Date
  readonly seenAt: Date
}

/** Rows of one queue and priority. */
export interface OutboxLane {
  readonly queue: string
  readonly priority: number
}

/** Which part of a lane to claim. */
export interface ClaimQuota extends OutboxLane {
  /** Low-water hint that keeps the scan off dead rows; correctness never depends on it. */
  readonly afterSeq: number
  readonly limit: number
}

/** What travels through a queue: enough to find the handoff and continue its trace, no content. */
export interface Pointer {
  readonly v: 1
  readonly handoffId: string
  readonly taskId: string
  /** One publication of a handoff; a re-drive publishes the next generation. */
  readonly generation: number
  /** Hex digest of the signed bytes the receiver will load. */
  readonly sha256: string
  readonly bytes: number
  /** The sender's stored context, handed on unchanged: the relay starts no trace of its own (I9). */
  readonly traceparent: string
  readonly tracestate?: string
}

/** 0 is most urgent. A waiting job of a smaller number always starts first, equal ones in order. */
export type Priority = 0 | 1 | 2 | 3

export interface Job {
  /** The receiving agent's type. Any text: each transport maps it to what its queue can name. */
  readonly queue: string
  readonly priority: Priority
  readonly pointer: Pointer
}
