export { figureText, percentOf, unitText } from './figures.ts'
export { THRESHOLD_LABELS } from './labels.ts'
export { dayText, momentText, periodText } from './labels.ts'
export * from './words.ts'
