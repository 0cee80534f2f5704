// The first to come starts the server, the others share it, the last to leave stops it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { discardInstance, joinInstance } from './shared-instance.ts'
import type { Engine } from './shared-instance.ts'

interface Details {
  readonly number: number
}

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-instance-'))
  path = join(folder, 'server.json')
})
afterEach(() => rmSync(folder, { recursive: true }))

function fakeServer() {
  const seen = { running: 0, starts: 0, stops: 0, previous: [] as (Details | null)[] }
  const engine: Engine<Details> = {
    isServing: async ({ number }) => number === seen.running,
    start: async (previous) => {
      seen.previous.push(previous)
      seen.starts += 1
      seen.running = seen.starts
      return { number: seen.starts }
    },
    stop: async () => {
      seen.stops += 1
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
    expect(seen.previous).toEqual([null, { number: 1 }])
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
