// Every alert has a game day that provokes it, or a reason why none does; a day names only what there is.
import { alertingGroups, ALERTS, METRIC_DEFINITIONS } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import { GAME_DAYS, NOT_PROVOKED, panelsOf } from './days.ts'
import { withLowered } from './prometheus.ts'

const names = ALERTS.map(({ name }) => name).toSorted()
const provoked = new Set(GAME_DAYS.flatMap(({ alerts }) => alerts))

describe('the game days', () => {
  it('provoke every alert that has no reason against it', () => {
    expect([...new Set([...provoked, ...Object.keys(NOT_PROVOKED)])].toSorted()).toEqual(names)
    expect(Object.keys(NOT_PROVOKED).filter((name) => provoked.has(name))).toEqual([])
    expect(Object.values(NOT_PROVOKED).filter((reason) => reason.length < 20)).toEqual([])
  })

  it('have names of their own, and a metric that Baton shows', () => {
    expect(new Set(GAME_DAYS.map(({ name }) => name)).size).toBe(GAME_DAYS.length)
    const shown: readonly string[] = Object.values(METRIC_DEFINITIONS).map(({ name }) => name)
    const unknown = GAME_DAYS.map(({ watched }) => watched.metric)
      .filter((metric) => !metric.startsWith('nodejs_'))
      .filter((metric) => !shown.includes(metric.replace(/_(?:sum|count|bucket)$/, '')))
    expect(unknown).toEqual([])
  })

  it('lower a limit of one alert of their own that its rule has, and no other rule', () => {
    const rules = (lowered?: (typeof GAME_DAYS)[number]['lowered']) =>
      alertingGroups('runbooks').flatMap((group) => withLowered(lowered)(group).rules)
    const changed = GAME_DAYS.filter(({ lowered }) => lowered !== undefined).map(
      ({ alerts, lowered }) => {
        const usual = rules().map((rule) => rule.expr)
        const others = rules(lowered).filter(({ expr }) => !usual.includes(expr))
        return { alerts, lowered, others }
      },
    )
    for (const { alerts, lowered, others } of changed) {
      expect(others).toMatchObject([{ alert: lowered?.alert }])
      expect(alerts).toContain(lowered?.alert)
    }
    expect(() => rules({ alert: 'BatonLogUnwitnessed', limit: 7, dividedBy: 2 })).toThrow(
      'BatonLogUnwitnessed has no limit of 7',
    )
  })

  it('say where a metric is drawn', () => {
    expect(panelsOf('baton_outbox_oldest_age_seconds')).not.toEqual([])
    expect(panelsOf('baton_outbox')).toEqual([])
  })
})
