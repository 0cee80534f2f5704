// Data on stdout, words on stderr; a terminal sees one live line, a log sees few.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createOutput } from './output.ts'

interface Asked {
  readonly json?: boolean
  readonly isTTY?: boolean
  readonly home?: string
}

function capture({ json = false, isTTY = false, home }: Asked = {}) {
  const written = { out: '', err: '' }
  const output = createOutput(
    {
      stdout: { write: (text) => (written.out += text), isTTY },
      stderr: { write: (text) => (written.err += text), isTTY, columns: 20 },
    },
    json,
    home,
  )
  return { written, output }
}

describe('createOutput', () => {
  it('keeps data and words apart', () => {
    const { written, output } = capture()
    output.data('row')
    output.words('hello')
    output.next('do this')
    expect(written).toEqual({ out: 'row\n', err: 'hello\n\nNext: do this\n' })
  })

  it('tells commands for the instance that --home named, and leaves data as it is', () => {
    const { written, output } = capture({ home: '/srv/my baton' })
    output.next('npm run baton -- tasks   ·   npm run baton -- verify')
    output.words('Start it: `npm run up -- --once`')
    output.check('unknown', 'backups', 'none: npm run baton -- backup')
    output.line('npm run baton -- dlq ls')
    output.data('npm run baton -- tasks')
    const home = `--home '/srv/my baton'`
    expect(written.err).toBe(
      `\nNext: npm run baton -- ${home} tasks   ·   npm run baton -- ${home} verify\nStart it: \`npm run up -- ${home} --once\`\n`,
    )
    expect(written.out).toContain(
      `npm run baton -- ${home} backup\nnpm run baton -- ${home} dlq ls\nnpm run baton -- tasks\n`,
    )
  })

  it('knows whether anything stands on stdout', () => {
    const { output } = capture({ json: true })
    output.words('hello')
    output.check('passed', 'links', 'fine')
    expect(output.hasAnswered()).toBe(false)
    output.data('{}')
    expect(output.hasAnswered()).toBe(true)
  })

  it('leaves the list of checks out of JSON', () => {
    const plain = capture()
    plain.output.check('passed', 'links', 'fine')
    expect(plain.written.out).toBe('  ✓ links          fine\n')
    const json = capture({ json: true })
    json.output.check('passed', 'links', 'fine')
    expect(json.written.out).toBe('')
  })

  it('writes progress without a terminal at most every two seconds', () => {
    const { written, output } = capture()
    for (let done = 0; done < 100; done += 1) output.progress(`${done} done`)
    expect(written.err).toBe('  0 done\n')
  })

  it('writes what goes on for months less often', async () => {
    const { written, output } = capture()
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    for (let second = 0; second < 120; second += 1) {
      output.progress(`${second} s`, 60_000)
      vi.advanceTimersByTime(1_000)
    }
    expect(written.err).toBe('  0 s\n  60 s\n')
  })

  it('clears the live line of a terminal before anything else is written', () => {
    const { written, output } = capture({ isTTY: true })
    output.progress('1 done')
    output.words('ready')
    expect(written.err).toBe('\r\u001b[K  1 done\r\u001b[Kready\n')
  })

  it('keeps the live line in one row of the terminal, so that all of it is cleared', () => {
    const { written, output } = capture({ isTTY: true })
    output.progress('what takes more than one row')
    expect(written.err).toBe('\r\u001b[K  what takes more …')
  })
})
