// The lock admits one holder at a time, waits for a living one and takes over from a dead one.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holderOf, isAlive, withLock } from './lock.mjs'

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-lock-'))
  path = join(folder, 'some.lock')
})
afterEach(() => rmSync(folder, { recursive: true }))

const DEAD = spawnSync(process.execPath, ['--version']).pid

describe('withLock', () => {
  it('admits one at a time and leaves nothing behind', async () => {
    let inside = 0
    let most = 0
    const enter = async () =>
      await withLock(path, { waitMs: 10_000 }, async () => {
        inside += 1
        most = Math.max(most, inside)
        await Promise.resolve()
        inside -= 1
      })
    await Promise.all(Array.from({ length: 5 }, enter))
    expect(most).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })

  it('takes over from a dead holder', async () => {
    writeFileSync(path, JSON.stringify({ pid: DEAD, startedAt: null }))
    expect(await withLock(path, { waitMs: 5_000 }, async () => 'done')).toBe('done')
  })

  it('takes over when the id now belongs to another process', async () => {
    writeFileSync(path, JSON.stringify({ pid: process.pid, startedAt: '1' }))
    if (holderOf().startedAt === null) return
    expect(await withLock(path, { waitMs: 5_000 }, async () => 'done')).toBe('done')
  })

  it('survives a takeover that was itself killed', async () => {
    writeFileSync(path, JSON.stringify({ pid: DEAD, startedAt: null }))
    mkdirSync(`${path}.takeover`)
    const longAgo = new Date(Date.now() - 60_000)
    utimesSync(`${path}.takeover`, longAgo, longAgo)
    expect(await withLock(path, { waitMs: 5_000 }, async () => 'done')).toBe('done')
  })

  it('names the living holder when it has waited long enough', async () => {
    writeFileSync(path, JSON.stringify(holderOf()))
    const waited: unknown[] = []
    const attempt = withLock(path, { waitMs: 60, onWait: (by) => waited.push(by) }, async () => 1)
    await expect(attempt).rejects.toMatchObject({ code: 'BATON_LOCK_BUSY' })
    expect(waited).toEqual([holderOf()])
  })

  it('is released when the action fails', async () => {
    const failing = withLock(
      path,
      { waitMs: 100 },
      async () => await Promise.reject(new Error('x')),
    )
    await expect(failing).rejects.toThrow('x')
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('isAlive', () => {
  it('tells the living from the dead', () => {
    expect(isAlive(holderOf())).toBe(true)
    expect(isAlive({ pid: DEAD, startedAt: null })).toBe(false)
  })
})
