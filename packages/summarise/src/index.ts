// Who condenses older turns: the extract, or a language model that is held to what they say.
export { createModelSummariser } from './model-summariser.ts'
export type { ModelSummariserOptions } from './model-summariser.ts'
export { extractiveSummariser } from './summariser.ts'
export type { Summariser, Summary, SummaryJob, WrittenSummary } from './summariser.ts'
