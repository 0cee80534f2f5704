// The page that follows one handoff names every file that took part in a real one, process by process, and no other.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquirePostgres, acquireRedis, describeWith } from '@baton/testkit'
import { filesOf, startWalk } from './walk-processes.ts'
import type { FilesByProcess, WalkedProcesses } from './walk-processes.ts'

const PAGE = new URL('../../packages/walk.md', import.meta.url)
const PLUMBING = 'plumbing'
/** What may tick or not while one handoff is followed. */
const TIMERS = 'timers'
/** Often enough that what a timer does by chance meanwhile stands in one of them only. */
const RUNS = 3

/** The files that each section of the page names, by the section's first word; SQL runs in Postgres, out of sight here. */
function filesOfPage(page: string): FilesByProcess {
  const sections = page.split(/^## /m).slice(1)
  return new Map(
    sections.map((section) => {
      const name = /^\w+/.exec(section)?.[0]?.toLowerCase() ?? ''
      const paths = [...section.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path]) => path ?? '')
      return [name, new Set(paths)]
    }),
  )
}

describeWith('one handoff through real processes', await acquireRedis(), (redis) => {
  const page = filesOfPage(readFileSync(PAGE, 'utf8'))
  const plumbing = page.get(PLUMBING) ?? new Set()
  const timers = page.get(TIMERS) ?? new Set()
  let walk: WalkedProcesses | undefined
  let walked: FilesByProcess = new Map()
  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    walk = await startWalk({ adminUrl, redisUrl: redis.url })
    const runs = []
    for (let run = 0; run < RUNS; run += 1) runs.push(await walk.followOne())
    walked = filesOf(runs)
  }, 180_000)
  afterAll(() => walk?.stop())

  it.each(['sender', 'relay', 'receiver', 'auditor'])('the page tells what the %s does', (name) => {
    const ran = [...(walked.get(name) ?? [])].filter((path) => !path.startsWith('test/'))
    const own = ran.filter((path) => !plumbing.has(path) && !timers.has(path))
    expect(own.toSorted()).toEqual([...(page.get(name) ?? [])].toSorted())
  })

  it('names no plumbing that nothing ran through', () => {
    const ran = new Set([...walked.values()].flatMap((files) => [...files]))
    expect([...plumbing].filter((path) => !ran.has(path))).toEqual([])
  })
})
