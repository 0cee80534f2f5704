// A live screen draws, pauses, quits and leaves the terminal as it was; without a terminal it is one frame.
import { EventEmitter } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { showLive } from './live-screen.ts'

const LEAVE = '\u001b[?25h\u001b[?1049l'

function terminal({ isTTY = true, columns = 20, rows = 5 } = {}) {
  const state = { written: '', isRaw: false, reads: 0, failing: false }
  const input = Object.assign(new EventEmitter(), {
    isTTY,
    setRawMode: (isRaw: boolean) => (state.isRaw = isRaw),
    resume: () => undefined,
    pause: () => undefined,
  })
  const output = Object.assign(new EventEmitter(), {
    isTTY,
    columns,
    rows,
    write: (text: string) => (state.written += text),
  })
  const interrupt = new AbortController()
  const shown = showLive(
    { input, output },
    {
      everyMs: 1,
      interrupt: interrupt.signal,
      read: async () => {
        if (state.failing) throw new Error('away')
        state.reads += 1
        return state.reads
      },
      draw: (reads, { isPaused, failure, columns: width }) =>
        [`read ${reads}`, isPaused ? 'PAUSED' : '', failure, `width ${width}`, '5', '6'].join('\n'),
      describe: (error) => (error as Error).message,
    },
  )
  const press = (keys: string) => input.emit('data', Buffer.from(keys))
  const seen = (text: string) =>
    vi.waitFor(() => expect(state.written).toContain(text), { timeout: 5_000, interval: 5 })
  return { state, input, output, interrupt, shown, press, seen }
}

describe('showLive', () => {
  it('draws again until somebody quits, and leaves the terminal as it was', async () => {
    const { state, input, output, shown, press, seen } = terminal()
    await seen('read 3')
    expect(state.isRaw).toBe(true)
    press('q')
    await expect(shown).resolves.toBeUndefined()
    expect(state.written.startsWith('\u001b[?1049h')).toBe(true)
    expect(state.written.endsWith(LEAVE)).toBe(true)
    expect(state.isRaw).toBe(false)
    expect([input.listenerCount('data'), output.listenerCount('resize')]).toEqual([0, 0])
  })

  it('writes no more lines than the terminal has', async () => {
    const { state, shown, press, seen } = terminal()
    await seen('width 20')
    press('q')
    await expect(shown).resolves.toBeUndefined()
    expect(state.written).toContain('5')
    expect(state.written).not.toContain('6\u001b[K')
  })

  it('reads nothing while it is paused, and goes on', async () => {
    const { state, shown, press, seen } = terminal()
    await seen('read 2')
    press(' ')
    await seen('PAUSED')
    const before = state.written.length
    press(' ')
    await vi.waitFor(() => expect(state.written.slice(before)).toContain(`${'\u001b'}[H`), {
      timeout: 5_000,
      interval: 5,
    })
    expect(state.written.slice(before)).not.toContain('PAUSED')
    const { reads } = state
    await seen(`read ${reads + 1}`)
    press('q')
    await expect(shown).resolves.toBeUndefined()
  })

  it('draws anew where the terminal changes its size', async () => {
    const { output, shown, press, seen } = terminal()
    await seen('width 20')
    press(' ')
    output.columns = 33
    output.emit('resize')
    await seen('width 33')
    press('q')
    await expect(shown).resolves.toBeUndefined()
  })

  it('says that a reading failed, and goes on once it works again', async () => {
    const { state, shown, press, seen } = terminal()
    await seen('read 1')
    state.failing = true
    await seen('away')
    const { reads } = state
    state.failing = false
    await seen(`read ${reads + 2}`)
    press('\u0003')
    await expect(shown).resolves.toBeUndefined()
  })

  it('ends when it is interrupted', async () => {
    const { state, interrupt, shown, seen } = terminal()
    await seen('read 1')
    interrupt.abort()
    await expect(shown).resolves.toBeUndefined()
    expect(state.written.endsWith(LEAVE)).toBe(true)
  })

  it('writes one frame where there is no terminal', async () => {
    const { state, shown } = terminal({ isTTY: false })
    await expect(shown).resolves.toBeUndefined()
    expect(state).toMatchObject({ reads: 1, isRaw: false })
    expect(state.written).toBe('read 1\n\n\nwidth 20\n5\n6\n')
  })
})
