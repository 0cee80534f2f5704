// Data goes to stdout, words for people go to stderr; nothing else in this service writes to either.
import { styleText } from 'node:util'
import { inHome } from './next-steps.ts'
import { clip } from './table.ts'

export type Mark = 'passed' | 'failed' | 'unknown'

export interface Output {
  /** True when the caller asked for JSON: tables are then left out. */
  readonly json: boolean
  /** Columns of the terminal; 120 where stdout is none. */
  readonly width: number
  /** Whether stdout is a terminal, where a person reads it. */
  readonly isRead: boolean
  /** Writes data to stdout, with a line end. */
  data(text: string): void
  /** A line of a result that a person reads, on stdout; one that tells a command does so for the instance of `--home`. */
  line(text: string): void
  /** Writes these very bytes to stdout. */
  bytes(data: Uint8Array): void
  /** Writes words for a person to stderr, with a line end. */
  words(text?: string): void
  /** One line about a step on the way, on stderr: `  ✓ database    Postgres 18.4`. */
  step(mark: Mark, label: string, text: string): void
  /** One line of a list of checks that is the command's result: on stdout, left out with --json. */
  check(mark: Mark, label: string, text: string): void
  /** What a person should do next; the last line of a command. */
  next(text: string): void
  /** Replaces the line before it on a terminal; elsewhere writes one line every two seconds, or as often as it is told. */
  progress(text: string, everyMs?: number): void
  /** Clears the progress line. */
  endProgress(): void
  /** Whether anything stands on stdout. */
  hasAnswered(): boolean
}

interface Streams {
  readonly stdout: {
    write(data: string | Uint8Array): unknown
    readonly isTTY?: boolean
    readonly columns?: number
  }
  readonly stderr: {
    write(text: string): unknown
    readonly isTTY?: boolean
    readonly columns?: number
  }
}

const LABEL_WIDTH = 13
const WIDTH = 120
const PROGRESS_EVERY_MS = 2_000
const CLEAR_LINE = '\r\u001b[K'

/** `home` as `--home` gave it: every command that is told to a person names it too. */
export function createOutput(streams: Streams, json: boolean, home?: string): Output {
  const { stdout, stderr } = streams
  const isTerminal = stderr.isTTY === true
  let isLineOpen = false
  let progressAt = Number.NEGATIVE_INFINITY
  let isAnswered = false

  function clear(): void {
    if (isLineOpen) stderr.write(CLEAR_LINE)
    isLineOpen = false
  }

  function data(text: string): void {
    clear()
    isAnswered = true
    stdout.write(`${text}\n`)
  }

  const line = (text: string): void => data(inHome(text, home))

  function words(text = ''): void {
    clear()
    stderr.write(`${inHome(text, home)}\n`)
  }

  return {
    json,
    width: stdout.columns ?? WIDTH,
    isRead: stdout.isTTY === true,
    data,
    line,
    bytes: (data) => {
      clear()
      isAnswered = true
      stdout.write(data)
    },
    words,
    step: (mark, label, text) => words(markedLine({ mark, label, text }, isTerminal)),
    check: (mark, label, text) => {
      if (!json) line(markedLine({ mark, label, text }, stdout.isTTY === true))
    },
    next: (text) => words(`\nNext: ${text}`),
    progress: (text, everyMs = PROGRESS_EVERY_MS) => {
      if (isTerminal) {
        // A line that wraps could not be cleared again: only its last row would be.
        const width = (stderr.columns ?? WIDTH) - 1
        stderr.write(`${CLEAR_LINE}${clip(`  ${text}`, width)}`)
        isLineOpen = true
      } else if (performance.now() - progressAt >= everyMs) {
        progressAt = performance.now()
        stderr.write(`  ${text}\n`)
      }
    },
    endProgress: clear,
    hasAnswered: () => isAnswered,
  }
}

const MARKS = {
  passed: { sign: '✓', colour: 'green' },
  failed: { sign: '✗', colour: 'red' },
  unknown: { sign: '–', colour: 'yellow' },
} as const

function markedLine(
  { mark, label, text }: { mark: Mark; label: string; text: string },
  isTerminal: boolean,
): string {
  return `  ${markOf(mark, isTerminal)} ${label.padEnd(LABEL_WIDTH)}  ${text}`
}

function markOf(mark: Mark, isTerminal: boolean): string {
  const { sign, colour } = MARKS[mark]
  return isTerminal ? styleText(colour, sign) : sign
}
