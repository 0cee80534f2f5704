// What the agents of the contract review are told: without a key and a base URL they ask no language model.
import { permanent } from '@baton/sdk'
import type { ModelOptions } from './model-opinion.ts'

const BASE_URL = 'https://api.openai.com/v1'
const MODEL = 'gpt-4o-mini'

/** As `baton settings` and the page of all settings show them. */
export const CONTRACT_REVIEW_SETTINGS = [
  {
    name: 'BATON_LLM_BASE_URL',
    kind: 'url',
    default: '-',
    bounds: 'http, https',
    help: `OpenAI-compatible endpoint that legal-analysis asks as well; ${BASE_URL} when only a key is given.`,
  },
  {
    name: 'BATON_LLM_MODEL',
    kind: 'text',
    default: MODEL,
    bounds: '',
    help: 'Name of the model at that endpoint.',
  },
  {
    name: 'BATON_LLM_API_KEY',
    kind: 'secret',
    default: '-',
    bounds: '',
    help: 'Key of that endpoint; a local one may need none. Without key and base URL no model is asked.',
  },
] as const

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The model to ask; undefined where neither key nor base URL is given. An empty variable counts as
 * absent. Throws BATON_SETTINGS_INVALID.
 */
export function modelFrom(environment: Environment): ModelOptions | undefined {
  const read = (name: (typeof CONTRACT_REVIEW_SETTINGS)[number]['name']) =>
    environment[name] === '' ? undefined : environment[name]
  const [baseUrl, apiKey] = [read('BATON_LLM_BASE_URL'), read('BATON_LLM_API_KEY')]
  if (baseUrl === undefined && apiKey === undefined) return undefined
  if (baseUrl !== undefined) refuseOtherThanHttp(baseUrl)
  return {
    baseUrl: baseUrl ?? BASE_URL,
    model: read('BATON_LLM_MODEL') ?? MODEL,
    ...(apiKey === undefined ? {} : { apiKey }),
  }
}

function refuseOtherThanHttp(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return
  // A URL may carry a password.
  const shown = JSON.stringify(url.replace(/^.*@/s, '***@'))
  throw permanent(
    'BATON_SETTINGS_INVALID',
    `BATON_LLM_BASE_URL is ${shown}: expected a URL that starts with http:// or https://`,
    { fix: 'Correct the environment variable; `baton settings` lists all of them.' },
  )
}
