// Every committed fixture gets the verdict that its file name states.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { deliveryOf, judgeHandoff, judgeMessage, parseMessage } from './index.ts'
import type { HandoffMessage, Verdict } from './index.ts'
import { sampleAgent, sampleKeyRing, sampleScan } from '../fixtures/sample-handoff.ts'

const FOLDER = fileURLToPath(
  new URL('fixtures/handoff/', import.meta.resolve('@baton/schemas/package.json')),
)

function files(kind: 'valid' | 'invalid') {
  return readdirSync(`${FOLDER}${kind}`).map((name) => ({
    name: name.replace(/\.json$/, ''),
    bytes: readFileSync(`${FOLDER}${kind}/${name}`),
  }))
}

/** What a receiver does with a message as text: a signed one is judged as the delivery it shows. */
function verdictOn(bytes: Uint8Array): Verdict | 'unreadable' {
  const parsed = parseMessage(bytes)
  if (!parsed.ok) return 'unreadable'
  const message = parsed.value as unknown as HandoffMessage
  const signed =
    typeof message === 'object' && message !== null && Object.hasOwn(message, 'signature')
  return signed
    ? judgeHandoff(deliveryOf(message), {
        agent: sampleAgent,
        keyRing: sampleKeyRing,
        scan: sampleScan,
      })
    : judgeMessage(message, { agent: sampleAgent, scan: sampleScan })
}

describe('E01 valid fixtures', () => {
  it.each(files('valid'))('$name is accepted', ({ bytes }) => {
    expect(verdictOn(bytes)).toMatchObject({ valid: true })
  })

  const old = files('valid').filter(
    ({ name }) => name.startsWith('2.0--') && name !== '2.0--signed',
  )
  it.each(old)('$name is accepted as every later minor as well', ({ bytes }) => {
    const verdicts = ['2.1', '2.2'].map((schemaVersion) => {
      const message = { ...JSON.parse(bytes.toString()), schemaVersion }
      return verdictOn(Buffer.from(JSON.stringify(message)))
    })
    expect(verdicts).toMatchObject([{ valid: true }, { valid: true }])
  })

  const recent = files('valid').filter(({ name }) => /^2\.[12]--only-/.test(name))
  it.each(recent)('$name is refused as the minor before', ({ name, bytes }) => {
    const before = name.startsWith('2.1') ? '2.0' : '2.1'
    const message = { ...JSON.parse(bytes.toString()), schemaVersion: before }
    expect(verdictOn(Buffer.from(JSON.stringify(message)))).toMatchObject({
      reason: 'SCHEMA_INVALID',
    })
  })

  it('keeps the unknown field of a newer minor', () => {
    const newer = files('valid').find(({ name }) => name.startsWith('2.9--'))
    const verdict = verdictOn(newer?.bytes ?? Buffer.of())
    expect(verdict).toMatchObject({ valid: true, message: { futureField: { any: 1 } } })
  })
})

describe('invalid fixtures', () => {
  it.each(files('invalid'))('$name', ({ name, bytes }) => {
    const verdict = verdictOn(bytes)
    const reason = verdict === 'unreadable' ? 'SCHEMA_INVALID' : !verdict.valid && verdict.reason
    expect(reason).toBe(name.split('--')[0])
  })

  it.each(files('invalid'))('$name says what, where and how to mend it', ({ bytes }) => {
    const parsed = parseMessage(bytes)
    const verdict = verdictOn(bytes)
    const details = parsed.ok
      ? verdict !== 'unreadable' && !verdict.valid && verdict.details
      : parsed.details
    expect(details).not.toHaveLength(0)
    for (const detail of details || []) {
      expect(detail.pointer).toMatch(/^(\/|$)/)
      expect([detail.rule, detail.message, detail.fix].every((text) => text.length > 3)).toBe(true)
    }
  })
})
