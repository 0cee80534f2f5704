// What the agents of the contract review can be told. Nothing is loaded with it, because `baton settings` lists it.
export const BASE_URL = 'https://api.openai.com/v1'
export const MODEL = 'gpt-4o-mini'

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
