// A language model is asked only when a key or a base URL is given, and wrong settings stop the start.
import { describe, expect, it } from 'vitest'
import { createAgents } from './agents.ts'
import { modelFrom } from './model-settings.ts'

const modelOf = (environment: Record<string, string>) => modelFrom(environment)

describe('the language model', () => {
  it('is none without a key and a base URL', () => {
    expect(modelOf({ BATON_LLM_MODEL: 'large' })).toBeUndefined()
    expect(modelOf({ BATON_LLM_BASE_URL: '', BATON_LLM_API_KEY: '' })).toBeUndefined()
  })

  it('is at the base URL, with the key where there is one', () => {
    const BATON_LLM_BASE_URL = 'http://127.0.0.1:11434/v1'
    expect(modelOf({ BATON_LLM_BASE_URL, BATON_LLM_MODEL: 'local' })).toEqual({
      baseUrl: BATON_LLM_BASE_URL,
      model: 'local',
    })
    expect(modelOf({ BATON_LLM_BASE_URL, BATON_LLM_API_KEY: 'k' })).toMatchObject({ apiKey: 'k' })
  })

  it('needs no base URL when a key is given', () => {
    expect(modelOf({ BATON_LLM_API_KEY: 'k' })).toMatchObject({
      baseUrl: expect.stringMatching(/^https:/),
      apiKey: 'k',
    })
  })

  it('is refused with a wrong address before any agent is made', () => {
    expect(() => createAgents({ BATON_LLM_BASE_URL: 'localhost' })).toThrow(
      /BATON_LLM_BASE_URL is "localhost"/,
    )
    expect(createAgents({}).map(({ type }) => type)).toContain('legal-analysis')
  })
})
