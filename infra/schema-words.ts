// A JSON Schema in the words of a table: what may stand in a field, and its bounds.

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: boolean | JsonSchema
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

/** A text that stands in one cell of a table. */
export const inCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')

/** The type in words; `link` says how another schema is named. */
export function typeOf(schema: JsonSchema, link: (name: string) => string): string {
  if (schema.$ref !== undefined) return link(schema.$ref.split('/').at(-1) ?? '')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
  const choices = schema.oneOf ?? schema.anyOf
  if (choices !== undefined)
    return [...new Set(choices.map((one) => typeOf(one, link)))].join(' or ')
  if (schema.allOf !== undefined) return schema.allOf.map((one) => typeOf(one, link)).join(' and ')
  const types = Array.isArray(schema.type)
    ? schema.type.join(' or ')
    : String(schema.type ?? 'anything')
  if (schema.type === 'array')
    return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items, link)}${bounds(schema.minItems, schema.maxItems)}`
  const name = schema.format === undefined ? types : `${types} (${schema.format})`
  if (schema.type === 'string')
    return `${name}${bounds(schema.minLength, schema.maxLength, ' characters')}`
  return `${name}${bounds(schema.minimum, schema.maximum)}`
}

/** The greatest number that JavaScript holds exactly is no bound that a reader needs. */
function bounds(least: number | undefined, given: number | undefined, unit = ''): string {
  const most = given === Number.MAX_SAFE_INTEGER ? undefined : given
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return `, at least ${least}${unit}`
  return least === undefined ? `, at most ${most}${unit}` : `, ${least} to ${most}${unit}`
}
