// The first to come starts the server, the others share it, the last to leave stops it; nobody ends one that is used.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holderOf } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'
import { discardInstance, joinInstance } from './shared-instance.ts'
import type { Engine, ServerProcess } from './shared-instance.ts'

interface Details extends ServerProcess {
  readonly number: number
}

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-instance-'))
  path = join(folder, 'server.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

const SHORT = { usedMs: 10, unusedMs: 10 }
const LONG = { usedMs: 60_000, unusedMs: 10 }

function fakeServer() {
  const seen = {
    running: 0,
    silent: false,
    starts: 0,
    stops: 0,
    aborts: 0,
    previous: [] as (number | null)[],
  }
  const detailsOf = (number: number): Details => ({
    number,
    pid: number,
    startedAt: null,
    port: 5,
  })
  const engine: Engine<Details> = {
    title: 'Server',
    logOf: () => 'server.log',
    find: async () => (seen.running === 0 ? null : detailsOf(seen.running)),
    answers: async () => !seen.silent,
    start: async (previous) => {
      seen.previous.push(previous?.number ?? null)
      seen.starts += 1
      seen.running = seen.starts
      seen.silent = false
      return detailsOf(seen.starts)
    },
    stop: async () => {
      seen.stops += 1
      seen.running = 0
    },
    abort: async () => {
      seen.aborts += 1
      seen.running = 0
    },
  }
  return { seen, engine }
}

describe('joinInstance', () => {
  it('starts once for many, and stops after the last', async () => {
    const { seen, engine } = fakeServer()
    const members = await Promise.all([1, 2, 3].map(() => joinInstance(path, engine)))
    expect(members.map(({ source }) => source).toSorted()).toEqual([
      'adopted',
      'adopted',
      'started',
    ])
    await members[0]?.leave()
    await members[0]?.leave()
    await members[1]?.leave()
    expect(seen).toMatchObject({ starts: 1, stops: 0 })
    await members[2]?.leave()
    expect(seen).toMatchObject({ starts: 1, stops: 1 })
  })

  it('starts a dead server again for everybody who still uses it', async () => {
    const { seen, engine } = fakeServer()
    const first = await joinInstance(path, engine)
    seen.running = 0
    const second = await joinInstance(path, engine)
    expect(seen.previous).toEqual([null, 1])
    await second.leave()
    expect(seen.stops).toBe(0)
    await first.leave()
    expect(seen.stops).toBe(1)
  })

  it('does not count a killed command as a user', async () => {
    const { seen, engine } = fakeServer()
    const member = await joinInstance(path, engine)
    const record = JSON.parse(readFileSync(path, 'utf8')) as { users: object[] }
    record.users.push({ pid: 2 ** 22 + 1, startedAt: null, token: 'gone' })
    writeFileSync(path, JSON.stringify(record))
    await member.leave()
    expect(seen.stops).toBe(1)
  })
})

describe('a server that does not answer', () => {
  const others: ChildProcess[] = []
  afterEach(() => others.splice(0).forEach((other) => other.kill('SIGKILL')))

  /** Another process that uses server 1, as the record of an earlier join names it. */
  function usedByAnother(): ChildProcess {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'up'])
    others.push(other)
    writeUser(holderOf(other.pid))
    return other
  }

  function writeUser(holder: Holder) {
    const details = { number: 1, pid: 1, startedAt: null, port: 5 }
    writeFileSync(path, JSON.stringify({ details, users: [{ ...holder, token: 'other' }] }))
  }

  function silentServer() {
    const server = fakeServer()
    Object.assign(server.seen, { running: 1, starts: 1, silent: true })
    return server
  }

  it('is left alone while a living process uses it, and named with that process', async () => {
    const { seen, engine } = silentServer()
    const other = usedByAnother()
    const before = readFileSync(path, 'utf8')
    const told: string[] = []
    const tell = (words: string) => void told.push(words)
    await expect(joinInstance(path, engine, { tell, waits: SHORT })).rejects.toMatchObject({
      code: 'BATON_SERVER_SILENT',
      kind: 'transient',
      message: expect.stringMatching(
        new RegExp(`process 1 on port 5 does not answer; process ${other.pid} .*up`),
      ),
      fix: expect.stringContaining(`end process ${other.pid}`),
    })
    expect(told).toEqual([expect.stringContaining('Gives up after 0.01 s and ends nothing.')])
    expect(seen).toMatchObject({ running: 1, starts: 1, stops: 0, aborts: 0 })
    expect(readFileSync(path, 'utf8')).toBe(before)
  })

  it('is joined once it answers again', async () => {
    const { seen, engine } = silentServer()
    usedByAnother()
    const tell = () => void (seen.silent = false)
    const member = await joinInstance(path, engine, { tell, waits: LONG })
    expect(member.source).toBe('adopted')
    await member.leave()
    expect(seen).toMatchObject({ running: 1, starts: 1, stops: 0, aborts: 0 })
  })

  it('leaves the lock to whoever wants to leave it meanwhile', async () => {
    const { seen, engine } = fakeServer()
    const first = await joinInstance(path, engine)
    seen.silent = true
    const tell = () => void first.leave()
    const second = await joinInstance(path, engine, { tell, waits: LONG })
    expect(second.source).toBe('started')
    expect(seen).toMatchObject({ starts: 2, stops: 1, aborts: 0 })
  })

  it('is ended and started again when nobody who used it lives, and says so', async () => {
    const { seen, engine } = silentServer()
    const other = usedByAnother()
    other.kill('SIGKILL')
    await once(other, 'exit')
    const told: string[] = []
    const member = await joinInstance(path, engine, {
      tell: (words) => void told.push(words),
      waits: SHORT,
    })
    expect(member.source).toBe('started')
    expect(seen).toMatchObject({ starts: 2, stops: 0, aborts: 1 })
    expect(told).toEqual([
      expect.stringContaining('no process that used it lives'),
      expect.stringContaining('Ended Server (process 1)'),
    ])
  })

  it('is not kept by a process that only got the id of a dead user', async () => {
    const { seen, engine } = silentServer()
    if (holderOf().startedAt === null) return
    writeUser({ pid: process.pid, startedAt: '1' })
    await joinInstance(path, engine, { waits: SHORT })
    expect(seen.aborts).toBe(1)
  })

  it('is not taken for unused when its record cannot be read', async () => {
    const { seen, engine } = silentServer()
    mkdirSync(path)
    await expect(joinInstance(path, engine)).rejects.toMatchObject({
      code: 'BATON_INSTANCE_UNREADABLE',
    })
    expect(seen).toMatchObject({ starts: 1, aborts: 0 })
  })
})

describe('discardInstance', () => {
  it('leaves a used server alone and ends an unused one', async () => {
    const { seen, engine } = fakeServer()
    const member = await joinInstance(path, engine)
    await discardInstance(path, engine)
    expect(seen.stops).toBe(0)
    await member.leave()
    await discardInstance(path, engine)
    expect(() => readFileSync(path)).toThrow()
  })
})
