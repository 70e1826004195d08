export * as t from './texts/index.ts'
