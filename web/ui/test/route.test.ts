import { pathOf, readRoute, type Route } from "../route.ts";
import { equal, test } from "./check.ts";

const routes: Route[] = [
  { page: "home" },
  { page: "thread", id: "t_abc" },
  { page: "thread", id: "odd/id %?#" },
  { page: "thread", id: "t_abc", turn: "u_1" },
  { page: "new", folder: "" },
  { page: "new", folder: "f_1" },
  { page: "settings" },
  { page: "folders" },
  { page: "connections" },
  { page: "doctor" },
  { page: "parse" },
];

test("route: there and back", () => {
  for (const route of routes) equal(readRoute(pathOf(route)), route);
});

test("route: what is no route is the start", () => {
  for (const hash of ["", "#", "#/", "#/t", "#/t/", "#/nowhere", "#key=x", "#//"]) equal(readRoute(hash), { page: "home" }, hash);
  equal(readRoute("#/t/%E0%A4%A"), { page: "thread", id: "" });
});
