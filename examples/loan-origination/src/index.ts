// A sale in instalments that somebody applies for, judged by six agents in a row.
export { agents } from './agents.ts'
