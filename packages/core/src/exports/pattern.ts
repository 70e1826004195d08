export { compilePattern } from '../base/pattern.ts'
export type { Pattern } from '../base/pattern.ts'
