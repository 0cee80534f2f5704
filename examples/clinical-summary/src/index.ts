// A clinical note, summarised by five agents in a row, in its own words.
export { agents } from './agents.ts'
