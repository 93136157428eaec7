//! How routes are declared: no route without saying who it is for. Several methods of one path become one
//! resource, `GET` answers `HEAD` too, and the declarations remain as a table that [`super::gate`] looks up.

use actix_web::http::Method;
use actix_web::{FromRequest, Handler, Responder, Route, guard, web};

use super::access::Access;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    pub method: Method,
    /// Pattern in actix' words: `/api/v1/records/{id:.+}`.
    pub pattern: &'static str,
    pub access: Access,
    /// A form of a page: its fields are read before its handler, and it must be of a page of this server.
    pub is_form: bool,
}

#[derive(Debug, Clone, Default)]
pub struct RouteTable(Vec<Declared>);

#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    Open {
        access: Access,
        is_form: bool,
    },
    /// The pattern is declared, for these methods only.
    OtherMethods(Vec<Method>),
    Undeclared,
}

impl RouteTable {
    pub fn iter(&self) -> impl Iterator<Item = &Declared> {
        self.0.iter()
    }

    pub fn look_up(&self, method: &Method, pattern: &str) -> Found {
        let wanted = if method == Method::HEAD {
            &Method::GET
        } else {
            method
        };
        let mut others = Vec::new();
        for declared in self.0.iter().filter(|declared| declared.pattern == pattern) {
            if declared.method == *wanted {
                return Found::Open {
                    access: declared.access,
                    is_form: declared.is_form,
                };
            }
            others.push(declared.method.clone());
        }
        if others.is_empty() {
            Found::Undeclared
        } else {
            Found::OtherMethods(others)
        }
    }
}

#[derive(Default)]
pub struct Routes {
    declared: Vec<Declared>,
    handlers: Vec<Route>,
}

impl Routes {
    pub fn get<F, Args>(&mut self, pattern: &'static str, access: Access, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        let route = web::route().guard(guard::Any(guard::Get()).or(guard::Head()));
        self.add((Method::GET, pattern), access, false, route.to(handler));
    }

    pub fn post<F, Args>(&mut self, pattern: &'static str, access: Access, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add((Method::POST, pattern), access, false, web::post().to(handler));
    }

    /// A form of a page, sent with POST. Its handler takes its fields from [`super::session::Form`].
    pub fn form<F, Args>(&mut self, pattern: &'static str, access: Access, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add((Method::POST, pattern), access, true, web::post().to(handler));
    }

    pub fn put<F, Args>(&mut self, pattern: &'static str, access: Access, handler: F)
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.add((Method::PUT, pattern), access, false, web::put().to(handler));
    }

    fn add(
        &mut self,
        (method, pattern): (Method, &'static str),
        access: Access,
        is_form: bool,
        route: Route,
    ) {
        self.declared.push(Declared {
            method,
            pattern,
            access,
            is_form,
        });
        self.handlers.push(route);
    }

    pub fn table(&self) -> RouteTable {
        RouteTable(self.declared.clone())
    }

    /// Registers everything, in the order declared; the first pattern that fits a path wins.
    pub fn register(self, config: &mut web::ServiceConfig) {
        let mut resources: Vec<(&'static str, Vec<Route>)> = Vec::new();
        for (declared, handler) in self.declared.into_iter().zip(self.handlers) {
            match resources
                .iter_mut()
                .find(|(pattern, _)| *pattern == declared.pattern)
            {
                Some((_, handlers)) => handlers.push(handler),
                None => resources.push((declared.pattern, vec![handler])),
            }
        }
        for (pattern, handlers) in resources {
            let resource = handlers
                .into_iter()
                .fold(web::resource(pattern), actix_web::Resource::route);
            config.service(resource);
        }
    }
}
