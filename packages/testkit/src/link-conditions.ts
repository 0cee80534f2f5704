// How a link treats what it forwards.

export interface Conditions {
  /** Added to every piece, in each direction. */
  readonly latencyMs: number
  /** At most this much more, at random. */
  readonly jitterMs: number
  /** Share of pieces that wait up to a second, as a lost packet does until it is sent again. */
  readonly stallShare: number
  /** Pieces of this many bytes; 0 leaves them whole. */
  readonly sliceBytes: number
  /** Resets a connection after this many bytes from the server, in the middle of an answer; 0 never. */
  readonly resetAfterBytes: number
  /** Keeps everything back, and delivers it once the link heals: a network that was split. */
  readonly held: boolean
}

export const PERFECT: Conditions = {
  latencyMs: 0,
  jitterMs: 0,
  stallShare: 0,
  sliceBytes: 0,
  resetAfterBytes: 0,
  held: false,
}
