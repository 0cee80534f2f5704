// What travels through a queue, and how relays count what they gave it: pointers, never content.

/** What travels through a queue: enough to find the handoff and continue its trace, no content. */
export interface Pointer {
  readonly v: 1
  readonly handoffId: string
  readonly taskId: string
  /** One publication of a handoff; a re-drive makes the next one. */
  readonly publishAttempt: number
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

/** A relay's count of its publications into a queue. `relay` names one unbroken row of such watermarks. */
export interface QueueWatermark {
  readonly queue: string
  readonly relay: string
  readonly watermark: number
}

/** A watermark that is written only where the one before it is still there. */
export interface NextWatermark extends QueueWatermark {
  /** Null begins a new row of watermarks. */
  readonly previous: number | null
}
