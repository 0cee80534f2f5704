// The checkpoint that a send stores is the document that schemas/checkpoint/1.json describes.
import schema from '@baton/schemas/checkpoint/1.json' with { type: 'json' }
import { prepareHandoff, prepareMessage } from '@baton/engine'
import { buildHandoffMessage, createKeyRing } from '@baton/sdk'
import { expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'

interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly type?: string
  readonly pattern?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean
}

const definitions: Readonly<Record<string, Schema>> = schema.$defs

/** Checks the keywords that this schema uses; answers what is wrong. */
function problems(value: unknown, rule: Schema, pointer = ''): string[] {
  if (rule.$ref !== undefined) {
    return problems(value, definitions[rule.$ref.slice('#/$defs/'.length)] ?? {}, pointer)
  }
  if ('const' in rule && value !== rule.const) return [`${pointer} is another constant`]
  if (rule.type === 'string') {
    const fits = typeof value === 'string' && new RegExp(rule.pattern ?? '', 'u').test(value)
    return fits ? [] : [`${pointer} does not fit`]
  }
  if (rule.type !== 'object') return []
  if (typeof value !== 'object' || value === null) return [`${pointer} is no object`]
  const { properties = {}, required = [] } = rule
  const missing = required.filter((name) => !(name in value))
  return [
    ...missing.map((name) => `${pointer}/${name} is missing`),
    ...Object.entries(value).flatMap(([name, member]) => {
      const known = properties[name]
      if (known !== undefined) return problems(member, known, `${pointer}/${name}`)
      return rule.additionalProperties === false ? [`${pointer}/${name} is unknown`] : []
    }),
  ]
}

const options = {
  keyRing: createKeyRing({
    active: 'k1',
    keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), status: 'active' }],
  }),
  attemptsMax: 3,
}
const documentOf = ({ checkpoint }: { checkpoint: Uint8Array }) =>
  JSON.parse(Buffer.from(checkpoint).toString('utf8')) as object

it('for a handoff that is built, with the request to rebuild it from', () => {
  const request = { agentState: newTask(), targetAgentType: 'reader', constraints: {} }
  const document = documentOf(prepareHandoff(request, options))
  expect(problems(document, schema as Schema)).toEqual([])
  expect(document).toHaveProperty('request')
})

it('for a ready message', () => {
  const message = buildHandoffMessage(newTask(), 'reader')
  const ready = { message, addedCostMicroUSD: 0, checkpoint: { resume: 'here' } }
  expect(problems(documentOf(prepareMessage(ready, options)), schema as Schema)).toEqual([])
})

it('and the check itself finds what is wrong', () => {
  expect(problems({ checkpointVersion: 2, extra: 1 }, schema as Schema)).toContain(
    '/extra is unknown',
  )
})
