// Which language model the agents of the contract review ask: without a key and a base URL none.
import { permanent } from '@baton/sdk'
import type { ModelOptions } from './model-opinion.ts'
import { BASE_URL, MODEL } from './settings.ts'
import type { CONTRACT_REVIEW_SETTINGS } from './settings.ts'

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
