// Makes a conversation fit the receiver's context window (E03): old turns become a summary.
import { ProtocolError } from './detail.ts'
import type { PinnedFacts, Turn } from './generated/handoff.ts'
import { extractOf } from './summarise-turns.ts'
import type { SummaryOptions } from './summarise-turns.ts'
import { countTokens, tokensAtMost } from './token-count.ts'

export interface Conversation {
  /** Oldest first. */
  readonly turns: readonly Turn[]
  /** The summary of what lies before them; may be empty. */
  readonly summary: string
}

export interface CompressionOptions {
  /** Size of the receiver's context window. */
  readonly windowTokens: number
  /** The part of the window that may be filled; 0.8 by default. */
  readonly threshold?: number
  /** How many of the latest turns stay word for word, if they fit; 5 by default. */
  readonly verbatimTurns?: number
  /** What else the receiver has to read: the text of the message without the conversation. */
  readonly rest?: string
  /** Condenses the older turns within the bounds it is given; the extract by default. */
  readonly summarise?: Summarise
  /** A summary that was written ahead of the oldest turns: it stands, and nothing is condensed again. */
  readonly written?: WrittenAhead | undefined
}

/** Which message it is for changes how many tokens a message has by a few, so what was written says how far it goes. */
export interface WrittenAhead {
  readonly text: string
  /** How many of the oldest turns it is of. */
  readonly turns: number
  /** What it had to keep of them. */
  readonly pinned?: PinnedFacts | undefined
}

/** A summary of older turns, and of the summary of what lay before them. */
export type Summarise = (older: Conversation, options: SummaryOptions) => string

export interface Compression {
  readonly compressed: boolean
  readonly summary: string
  readonly verbatim: readonly Turn[]
  /** How many turns went into the summary. */
  readonly turnsSummarised: number
  /** What the summary had to keep of them, whoever wrote it. */
  readonly pinned?: PinnedFacts | undefined
}

const THRESHOLD = 0.8
const VERBATIM_TURNS = 5
/** Room for the conversation when the rest of the message leaves none. */
const ROOM_TOKENS_MIN = 128
/** The verbatim turns may take this part of the room; the rest is for the summary. */
const VERBATIM_SHARE = 0.75

/**
 * Returns the conversation as it is while the message stays under the threshold. Otherwise the
 * oldest turns are replaced by an extract that keeps facts, decisions with their reasons,
 * constraints, warnings and tool results; the latest turns stay verbatim, fewer of them when they
 * alone would fill the window; when the rest of the message does, only a few lines remain.
 * Deterministic: the same input and summariser give the same output. Throws ProtocolError
 * BATON_COMPRESSION_INVALID for options out of range.
 */
export function compressContext(
  conversation: Conversation,
  options: CompressionOptions,
): Compression {
  checkOptions(options)
  const { windowTokens, threshold = THRESHOLD, rest = '', summarise, written } = options
  if (written !== undefined) return condensed(conversation, written)
  const allowedTokens = Math.floor(windowTokens * threshold)
  if (fits(conversation, rest, allowedTokens)) return unchanged(conversation)
  const roomTokens = Math.max(allowedTokens - countTokens(rest), ROOM_TOKENS_MIN)
  const kept = verbatimCount(
    conversation.turns,
    options.verbatimTurns ?? VERBATIM_TURNS,
    roomTokens,
  )
  const split = conversation.turns.length - kept
  if (split === 0 && conversation.summary === '') return unchanged(conversation)
  const older = { turns: conversation.turns.slice(0, split), summary: conversation.summary }
  const bounds = { tokensMax: roomTokens - sumTokens(conversation.turns.slice(split)), kept }
  const { text, pinned } = extractOf(older, bounds)
  return condensed(conversation, { text: summarise?.(older, bounds) ?? text, turns: split, pinned })
}

const condensed = (
  { turns }: Conversation,
  { text, turns: split, pinned }: WrittenAhead,
): Compression => ({
  compressed: true,
  summary: text,
  verbatim: turns.slice(split),
  turnsSummarised: split,
  pinned,
})

function checkOptions({ windowTokens, threshold, verbatimTurns }: CompressionOptions): void {
  if (!(windowTokens > 0)) refuse('/windowTokens', 'a context window has more than 0 tokens')
  if (threshold !== undefined && !(threshold > 0 && threshold <= 1))
    refuse('/threshold', 'the threshold is a part of the window: above 0, at most 1')
  if (verbatimTurns !== undefined && !(verbatimTurns >= 0))
    refuse('/verbatimTurns', 'the number of verbatim turns is 0 or more')
}

function refuse(pointer: string, message: string): never {
  const fix = 'Give a number in range, or leave it out for the default.'
  throw new ProtocolError('BATON_COMPRESSION_INVALID', [{ pointer, rule: 'range', message, fix }])
}

function unchanged({ turns, summary }: Conversation): Compression {
  return { compressed: false, summary, verbatim: turns, turnsSummarised: 0 }
}

/** Asks the tokenizer only when counting bytes cannot answer. */
function fits({ turns, summary }: Conversation, rest: string, allowedTokens: number): boolean {
  const texts = [rest, summary, ...turns.map(textOf)]
  const most = texts.reduce((sum, text) => sum + tokensAtMost(text), 0)
  if (most <= allowedTokens) return true
  let tokens = 0
  for (const text of texts) {
    tokens += countTokens(text)
    if (tokens > allowedTokens) return false
  }
  return true
}

/** How many of the latest turns, at most `wanted`, leave room for the summary. */
function verbatimCount(turns: readonly Turn[], wanted: number, roomTokens: number): number {
  let tokens = 0
  let count = 0
  while (count < Math.min(wanted, turns.length)) {
    const turn = turns[turns.length - 1 - count]
    if (turn === undefined) break
    tokens += countTokens(textOf(turn))
    if (tokens > roomTokens * VERBATIM_SHARE) break
    count += 1
  }
  return count
}

function sumTokens(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + countTokens(textOf(turn)), 0)
}

/** A turn as the message carries it. */
function textOf(turn: Turn): string {
  return JSON.stringify(turn)
}
