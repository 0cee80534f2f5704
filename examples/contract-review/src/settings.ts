// What the agents of the contract review are told: without a key and a base URL they ask no language model.
import { optionalSecret, optionalUrl, text } from '@baton/runtime'
import type { readSettings } from '@baton/runtime'
import type { ModelOptions } from './model-opinion.ts'

const BASE_URL = 'https://api.openai.com/v1'

export const CONTRACT_REVIEW_SETTINGS = {
  BATON_LLM_BASE_URL: optionalUrl(['http', 'https'], {
    help: `OpenAI-compatible endpoint that legal-analysis asks as well; ${BASE_URL} when only a key is given.`,
  }),
  BATON_LLM_MODEL: text({ default: 'gpt-4o-mini', help: 'Name of the model at that endpoint.' }),
  BATON_LLM_API_KEY: optionalSecret({
    help: 'Key of that endpoint; a local one may need none. Without key and base URL no model is asked.',
  }),
}

/** The model to ask; undefined where neither key nor base URL is given. */
export function modelFrom(
  settings: ReturnType<typeof readSettings<typeof CONTRACT_REVIEW_SETTINGS>>,
): ModelOptions | undefined {
  const { BATON_LLM_BASE_URL: baseUrl, BATON_LLM_API_KEY: apiKey } = settings
  if (baseUrl === undefined && apiKey === undefined) return undefined
  return {
    baseUrl: baseUrl ?? BASE_URL,
    model: settings.BATON_LLM_MODEL,
    ...(apiKey === undefined ? {} : { apiKey }),
  }
}
