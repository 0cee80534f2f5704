// A screen that is drawn again and again until somebody quits: the terminal is left as it was found, whatever happens.
import { clip } from './table.ts'

export interface Terminal {
  readonly input: {
    readonly isTTY?: boolean
    setRawMode?(isRaw: boolean): unknown
    on(event: 'data', listener: (data: Buffer) => void): unknown
    off(event: 'data', listener: (data: Buffer) => void): unknown
    resume(): unknown
    pause(): unknown
  }
  readonly output: {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
    write(text: string): unknown
    on(event: 'resize', listener: () => void): unknown
    off(event: 'resize', listener: () => void): unknown
  }
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

interface LiveScreen<Data> {
  readonly everyMs: number
  readonly interrupt: AbortSignal
  read(): Promise<Data>
  /** Lines for what was read last; they are cut to the terminal. */
  draw(data: Data, view: Size & { readonly isPaused: boolean; readonly failure: string }): string
  /** What to say of an error; reading goes on. */
  describe(error: unknown): string
}

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const END_OF_LINE = '\u001b[K'
const REST = '\u001b[J'
const CTRL_C = '\u0003'
const SIZE = { columns: 100, rows: 40 }

/**
 * Draws at once and then every `everyMs`: space pauses and goes on, q and Ctrl-C quit. Where the output is no terminal it
 * writes one frame. The first reading throws what it throws; later ones are told on the screen.
 */
export async function showLive<Data>(
  { input, output }: Terminal,
  { everyMs, interrupt, read, draw, describe }: LiveScreen<Data>,
): Promise<void> {
  let data = await read()
  let failure = ''
  let isPaused = false
  const sizeOf = (): Size => ({
    columns: output.columns ?? SIZE.columns,
    rows: output.rows ?? SIZE.rows,
  })
  if (output.isTTY !== true) {
    output.write(`${draw(data, { ...sizeOf(), rows: Infinity, isPaused, failure })}\n`)
    return
  }
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()

  function redraw(): void {
    const size = sizeOf()
    const lines = draw(data, { ...size, isPaused, failure })
      .split('\n')
      .slice(0, size.rows)
    output.write(`${HOME}${lines.map((line) => line + END_OF_LINE).join('\r\n')}${REST}`)
  }

  async function refresh(): Promise<void> {
    try {
      data = await read()
      failure = ''
    } catch (error) {
      failure = describe(error)
    }
    if (!isPaused) redraw()
  }

  function onKey(keys: Buffer): void {
    for (const key of keys.toString()) {
      if (key === 'q' || key === CTRL_C) return end()
      if (key !== ' ') continue
      isPaused = !isPaused
      redraw()
    }
  }

  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const again = (): void => {
    if (isOver) return
    timer = setTimeout(() => {
      void (isPaused ? Promise.resolve() : refresh()).then(again)
    }, everyMs)
  }
  interrupt.addEventListener('abort', () => end(), { once: true })
  if (interrupt.aborted) return
  output.write(ENTER)
  try {
    if (input.isTTY === true) input.setRawMode?.(true)
    input.on('data', onKey)
    input.resume()
    output.on('resize', redraw)
    redraw()
    again()
    await ended
  } finally {
    isOver = true
    clearTimeout(timer)
    output.off('resize', redraw)
    input.off('data', onKey)
    if (input.isTTY === true) input.setRawMode?.(false)
    input.pause()
    output.write(LEAVE)
  }
}

/** Lines cut to a width. */
export const clipLines = (text: string, columns: number): string =>
  text
    .split('\n')
    .map((line) => clip(line, columns))
    .join('\n')
