// The written rules: every alert has examples, every window that it names is recorded, and
// promtool, where it is found, checks and runs them.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { alertingGroups, ALERTS, fasterBy, recordingGroups } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import { ALERT_EXAMPLES } from './alert-examples.ts'

const INFRA = fileURLToPath(new URL('..', import.meta.url))
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

describe('alerts', () => {
  it('have names of their own, and examples', () => {
    const names = ALERTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(Object.keys(ALERT_EXAMPLES).toSorted()).toEqual(names.toSorted())
  })

  it('name windows that are recorded, also where time runs faster', () => {
    for (const span of [undefined, fasterBy(60)]) {
      const recorded = new Set(
        recordingGroups(span)
          .flatMap(({ rules }) => rules)
          .map((rule) => ('record' in rule ? rule.record : '')),
      )
      const read = alertingGroups('', span)
        .flatMap(({ rules }) => rules)
        .flatMap(({ expr }) => expr.match(/baton:[\w:]+/g) ?? [])
      expect(read.filter((name) => !recorded.has(name))).toEqual([])
      expect(read.length).toBeGreaterThan(20)
    }
  })
})

describe.skipIf(!hasPromtool)('promtool (skipped where it is not installed)', () => {
  const promtool = (...args: string[]) =>
    spawnSync('promtool', args, { cwd: join(INFRA, 'prometheus'), encoding: 'utf8' })

  it('finds the rules in order', () => {
    const checked = promtool('check', 'rules', 'recording-rules.yml', 'alerting-rules.yml')
    expect(`${checked.stdout}${checked.stderr}`).toContain(`SUCCESS: ${ALERTS.length} rules found`)
    expect(checked.status).toBe(0)
  })

  it('fires every alert in its one example, and none in the other', () => {
    const tested = promtool('test', 'rules', 'rule-tests.yml', 'rule-tests-hours.yml')
    expect(`${tested.stdout}${tested.stderr}`).not.toContain('FAILED')
    expect(tested.status).toBe(0)
  }, 180_000)
})
