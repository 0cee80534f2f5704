// The rules are compiled by who scans, and once: a process that only asks for their version does not pay for them.
import { expect, it, vi } from 'vitest'
import type * as Re2 from 're2js'
import { RULE_GROUPS } from './rules/index.ts'
import { createScanner, prepareScanner } from './scanner.ts'

const { compiled } = vi.hoisted(() => ({ compiled: { sets: 0 } }))

vi.mock('re2js', async (read) => {
  const original = await read<typeof Re2>()
  class CountedSet extends original.RE2Set {
    override compile(): void {
      compiled.sets += 1
      super.compile()
    }
  }
  return { ...original, RE2Set: CountedSet }
})

it('compiles nothing for a version, and every rule once for all scanners', async () => {
  expect(createScanner().rulesetVersion).toMatch(/^[0-9a-f]{64}$/)
  expect(compiled.sets).toBe(0)
  await prepareScanner()
  expect(compiled.sets).toBe(RULE_GROUPS.flatMap(({ rules }) => rules).length)
  for (const { scan } of [createScanner(), createScanner()])
    expect(scan({ text: 'a' })).toBeTruthy()
  await prepareScanner()
  expect(compiled.sets).toBe(RULE_GROUPS.flatMap(({ rules }) => rules).length)
})
