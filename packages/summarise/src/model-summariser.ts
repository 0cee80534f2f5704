// Asks a language model for a summary (E03). Its answer is data: bounded, checked against what was said, paid for within
// a limit; in every other case the extract takes its place.
import { createFetch } from '@baton/http/fetch'
import type { BoundFetch } from '@baton/http/fetch'
import { checkSummary, countTokens } from '@baton/protocol'
import { codeOf, createBreaker, NO_TLS, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { promptFor, SYSTEM } from './prompt.ts'
import { extract } from './summariser.ts'
import type { Summariser, Summary, SummaryJob, SummaryReason } from './summariser.ts'

export interface ModelSummariserOptions {
  /** An OpenAI-compatible endpoint, for example http://127.0.0.1:11434/v1. */
  readonly baseUrl: string
  readonly model: string
  readonly apiKey?: string | undefined
  /** US dollars for a million tokens; 0 for a model of one's own. */
  readonly promptUSDPerMillion: number
  readonly completionUSDPerMillion: number
  /** For the whole answer. */
  readonly timeoutMs: number
  /** Who vouches for the endpoint, beside the authorities of the machine. Nothing but the key is shown to it. */
  readonly tls?: Tls | undefined
  /** How long the breaker stays open; 30 s by default. */
  readonly resetMs?: number
}

/** The part of the upstream call that a summary may cost. */
const COST_SHARE_MAX = 0.05
/** The part of the room that the model's words may take; the rest is for what is put back word for word. */
const WRITTEN_SHARE = 0.5
const WRITTEN_TOKENS_MAX = 1_500
/** What a provider's own template may add around a prompt. */
const TEMPLATE_TOKENS = 64
const BREAKER_MARGIN_MS = 500
const RESET_MS = 30_000
/** Far more than the words that are asked for. */
const ANSWER_BYTES_MAX = 1_048_576

export function createModelSummariser(options: ModelSummariserOptions): Summariser {
  const { timeoutMs, resetMs = RESET_MS, tls = NO_TLS } = options
  const { fetch, close } = createFetch({ tls, answerBytesMax: ANSWER_BYTES_MAX })
  const breaker = createBreaker('summariser', (asked: Asked) => ask(asked, { ...options, fetch }), {
    timeoutMs: timeoutMs + BREAKER_MARGIN_MS,
    resetMs,
  })
  return {
    async summarise(job) {
      const asked = askedFor(job)
      const most = costOf(mostTokens(asked), options)
      if (most > job.upstreamCostUSD * COST_SHARE_MAX) return extract(job, 'cost')
      try {
        const { text, tokens } = await breaker.fire(asked)
        return judged(job, { text, tokens, costUSD: costOf(tokens, options) })
      } catch (error) {
        const reason = reasonOf(error)
        // A provider may charge for an answer that nobody waited for.
        const lost = reason === 'timeout' ? { costUSD: most, tokens: mostTokens(asked) } : {}
        return { ...extract(job, reason), ...lost }
      }
    },
    close() {
      breaker.close()
      close()
    },
  }
}

interface Asked {
  readonly prompt: string
  readonly promptTokens: number
  readonly outputTokensMax: number
}

interface Answer {
  readonly text: string
  readonly tokens: Summary['tokens']
}

function askedFor({ older, bounds }: SummaryJob): Asked {
  const outputTokensMax = Math.max(
    1,
    Math.min(Math.floor(bounds.tokensMax * WRITTEN_SHARE), WRITTEN_TOKENS_MAX),
  )
  const prompt = promptFor(older, outputTokensMax)
  const promptTokens = countTokens(SYSTEM) + countTokens(prompt) + TEMPLATE_TOKENS
  return { prompt, promptTokens, outputTokensMax }
}

const mostTokens = ({ promptTokens, outputTokensMax }: Asked): Summary['tokens'] => ({
  prompt: promptTokens,
  completion: outputTokensMax,
})

const MILLION = 1_000_000

function costOf(
  { prompt, completion }: Summary['tokens'],
  { promptUSDPerMillion, completionUSDPerMillion }: ModelSummariserOptions,
): number {
  return (prompt * promptUSDPerMillion + completion * completionUSDPerMillion) / MILLION
}

/** One request, never repeated by itself: the extract is as good as a second try, and free. */
async function ask(
  { prompt, promptTokens, outputTokensMax }: Asked,
  { baseUrl, model, apiKey, timeoutMs, fetch }: ModelSummariserOptions & Pick<BoundFetch, 'fetch'>,
): Promise<Answer> {
  // Loaded when a model is first asked: most processes never do.
  const { generateText } = await import('ai')
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const provider = createOpenAICompatible({
    name: 'summariser',
    baseURL: baseUrl,
    fetch,
    ...(apiKey === undefined ? {} : { apiKey }),
  })
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const { text, usage } = await generateText({
      model: provider(model),
      instructions: SYSTEM,
      prompt,
      maxOutputTokens: outputTokensMax,
      temperature: 0,
      maxRetries: 0,
      abortSignal: signal,
    })
    const tokens = {
      prompt: counted(usage.inputTokens) ?? promptTokens,
      completion: counted(usage.outputTokens) ?? countTokens(text),
    }
    return { text, tokens }
  } catch (cause) {
    if (signal.aborted) {
      throw transient('BATON_TIMEOUT', 'the summariser did not answer in time', { cause })
    }
    throw cause
  }
}

/** What a provider says it counted, where it says so in a number one can charge for. */
const counted = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined

interface Paid extends Answer {
  readonly costUSD: number
}

function judged(job: SummaryJob, { text, tokens, costUSD }: Paid): Summary {
  const checked = checkSummary(text.toWellFormed(), job.older, job.bounds)
  if (!checked.ok) return { ...extract(job, checked.fault), costUSD, tokens }
  return { text: checked.text, by: 'model', reason: 'written', costUSD, tokens }
}

function reasonOf(error: unknown): SummaryReason {
  const code = codeOf(error)
  if (code === 'BATON_BREAKER_OPEN') return 'breaker_open'
  return code === 'BATON_TIMEOUT' ? 'timeout' : 'unavailable'
}
